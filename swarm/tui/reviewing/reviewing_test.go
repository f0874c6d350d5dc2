package reviewing

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/task"
	"agentswarm/swarm/tui"
)

var update = flag.Bool("update", false, "write the golden files")

// codemod is a review of 100 patches, each with an edit of the same class, and
// of five odd edits, which are read first.
func codemod() *Book {
	b := &Book{Run: "k3x9q2"}
	for i := range 5 {
		b.Classes = append(b.Classes, &Class{
			ID: fmt.Sprintf("C%d", i+1), Head: "1 edit, test, go", Weight: 8, Edits: []*Edit{{
				Patch: task.ID(fmt.Sprintf("a%d", 20*i+7)), Withheld: true, Reasons: []string{"mark 8: switches a test off: t.Skip"},
				Hunk: tui.Hunk{Path: fmt.Sprintf("p%d/log_test.go", 20*i+6), Language: "go", NewLine: 12, Added: []string{fmt.Sprintf("\tt.Skip(%q)", fmt.Sprint("later ", i))}},
			}},
		})
	}
	large := &Class{ID: "C6", Head: "100 edits, code, go, in 100 patches", Beside: []string{"left over: 2 lines with the removed words: doc.go:3, doc.go:9"}}
	for i := range 100 {
		large.Edits = append(large.Edits, &Edit{
			Patch: task.ID(fmt.Sprintf("a%d", i+1)),
			Hunk: tui.Hunk{
				Path: fmt.Sprintf("p%d/log.go", i), Language: "go", OldLine: 7, NewLine: 7, Before: []string{"func f() {"},
				Removed: []string{"\tlog.Print(\"x\")"}, Added: []string{"\tslog.Info(\"x\")"}, After: []string{"}"},
			},
		})
	}
	b.Classes = append(b.Classes, large)
	return b
}

// fake records choices as a run does: a verdict on a class covers no edit in a
// file with a mark.
type fake struct {
	did  []string
	fail error
}

func (f *fake) Decide(_ context.Context, c Choice) (Outcome, error) {
	if f.fail != nil {
		return Outcome{}, f.fail
	}
	of := c.Class.ID
	out := Outcome{}
	if c.Edit != nil {
		of += " " + string(c.Edit.Patch)
		out.Covered = []*Edit{c.Edit}
	} else {
		for _, e := range c.Class.Edits {
			if !e.Withheld && e.Verdict == c.Verdict { // the screen has set it
				out.Covered = append(out.Covered, e)
			}
		}
	}
	f.did = append(f.did, strings.TrimSpace(fmt.Sprintf("%s %s %s", of, c.Verdict, c.Text)))
	return out, nil
}

func (f *fake) Send(context.Context) (string, error) {
	f.did = append(f.did, "send")
	return "sent", nil
}

func (f *fake) Open(_ context.Context, e *Edit) (string, error) {
	f.did = append(f.did, "open "+e.Hunk.Path)
	return "", nil
}

func (f *fake) Shell(_ context.Context, e *Edit) (string, error) {
	f.did = append(f.did, "shell "+string(e.Patch))
	return "", nil
}

// person types at a screen, and does at once all that it asks for.
type person struct {
	*Screen
	fake *fake
	quit bool
	keys int
}

func sit(width, height int, b *Book) *person {
	p := &person{fake: &fake{}}
	p.Screen = New(Request{Book: b, Desk: p.fake})
	p.Resize(width, height)
	return p
}

func (p *person) types(keys ...tui.Key) {
	for _, k := range keys {
		p.keys++
		p.does(p.Update(k))
	}
}

func (p *person) does(e tui.Effect) {
	switch e := e.(type) {
	case *tui.Work:
		p.does(p.Update(e.Do(context.Background())))
	case *tui.Foreground:
		p.does(p.Update(e.Do(context.Background())))
	case *tui.Quit:
		p.quit = true
	}
}

// TestCodemod: of 100 patches the five odd ones are on the first screen, and all
// are decided in at most 40 keys.
func TestCodemod(t *testing.T) {
	t.Parallel()
	p := sit(80, 24, codemod())
	first := strings.Join(p.Lines(), "\n")
	for _, path := range []string{"C1 1×", "C2 1×", "C3 1×", "C4 1×", "C5 1×", "C6 100×"} {
		if !strings.Contains(first, path) {
			t.Errorf("%s is not on the first screen:\n%s", path, first)
		}
	}
	for range 5 {
		p.types("x", "enter")
	}
	p.types("a", "q")
	want := "C1 a7 rejected; C2 a27 rejected; C3 a47 rejected; C4 a67 rejected; C5 a87 rejected; C6 accepted"
	if got := strings.Join(p.fake.did, "; "); got != want || !p.quit || p.keys > 40 {
		t.Errorf("%d keys, left: %t, recorded %q, want %q", p.keys, p.quit, got, want)
	}
	if got := p.Lines()[0]; !strings.Contains(got, "6 of 6 classes, 100 % of the edits") {
		t.Errorf("the progress is %q", got)
	}
}

// TestKeys checks that the help describes the effect of each key.
func TestKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys []tui.Key
		did  string
		says string
	}{
		{"accept an edit", []tui.Key{"a", "q"}, "C1 a7 accepted", "C2: 1 edit"},
		{"undo", []tui.Key{"a", "u", "q"}, "", "0 of 6 classes"},
		{"undo a recorded one", []tui.Key{"a", "a", "u", "u"}, "C1 a7 accepted", "the last verdict is recorded"},
		{"reject for a reason", []tui.Key{"x", "n", "o", "enter", "q"}, "C1 a7 rejected no", ""},
		{"reject left", []tui.Key{"x", "n", "esc", "q"}, "", "0 of 6 classes"},
		{"one of a class", []tui.Key{"J", "J", "J", "J", "J", "v", "j", "a", "q"}, "C6 a2 accepted", "C6 100×"},
		{"the rest of a class", []tui.Key{"J", "J", "J", "J", "J", "v", "x", "enter", "esc", "a", "q"}, "C6 a1 rejected; C6 accepted", "-1"},
		{"remark", []tui.Key{"c", "h", "m", "enter"}, "C1 a7  hm", "remark: hm"},
		{"send", []tui.Key{"a", "S"}, "C1 a7 accepted; send", "sent"},
		{"editor", []tui.Key{"o"}, "open p6/log_test.go", ""},
		{"shell", []tui.Key{"J", "t"}, "shell a27", ""},
		{"read", []tui.Key{"space"}, "", "1 read"},
		{"beside", []tui.Key{"K", "J", "J", "J", "J", "J", "b"}, "", "left over: 2 lines"},
		{"next edits", []tui.Key{"j", "j", "j", "j", "j", "j"}, "", "a2, edit 2 of 100"},
		{"previous edit", []tui.Key{"j", "k"}, "", "a7, edit 1 of 1"},
		{"patches", []tui.Key{"J", "J", "J", "J", "J", "]", "]", "["}, "", "a2, edit 2 of 100"},
		{"search", []tui.Key{"/", "l", "a", "t", "e", "r", "space", "3", "enter"}, "", "1/1"},
		{"search dropped", []tui.Key{"/", "z", "z", "enter", "esc"}, "", "1/6"},
		{"help", []tui.Key{"?"}, "", "undo the last verdict"},
	}
	for _, test := range tests {
		p := sit(100, 30, codemod())
		p.types(test.keys...)
		if got := strings.Join(p.fake.did, "; "); got != test.did {
			t.Errorf("%s: did %q, want %q", test.name, got, test.did)
		}
		if got := strings.Join(p.Lines(), "\n"); !strings.Contains(got, test.says) {
			t.Errorf("%s: %q is not in\n%s", test.name, test.says, got)
		}
	}
}

// TestRefused: edits whose verdict was not recorded have none, and the view stays.
func TestRefused(t *testing.T) {
	t.Parallel()
	p := sit(80, 24, codemod())
	p.fake.fail = errors.New("the run has moved on\x1b[2J")
	p.types("c", "h", "m", "enter", "a", "q")
	got := strings.Join(p.Lines(), "\n")
	if p.quit || !strings.Contains(got, `moved on\x1b[2J`) || !strings.Contains(got, "0 of 6 classes") || strings.Contains(got, "remark:") {
		t.Errorf("left: %t; it shows\n%s", p.quit, got)
	}
}

// TestFrames holds the pages of the review at two sizes.
func TestFrames(t *testing.T) {
	t.Parallel()
	pages := []struct {
		name string
		keys []tui.Key
	}{{"edit", nil}, {"class", []tui.Key{"J", "J", "J", "J", "J"}}, {"members", []tui.Key{"J", "J", "J", "J", "J", "v"}}, {"beside", []tui.Key{"J", "J", "J", "J", "J", "b"}}, {"help", []tui.Key{"?"}}}
	for _, size := range []struct{ width, height int }{{80, 24}, {200, 50}} {
		for _, page := range pages {
			p := sit(size.width, size.height, codemod())
			p.types(page.keys...)
			got := unreversed(strings.Join(p.Lines(), "\n") + "\n")
			name := filepath.Join("testdata", fmt.Sprintf("%s_%dx%d.txt", page.name, size.width, size.height))
			if *update {
				if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(name, []byte(got), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s shows\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// unreversed drops the only style that a view without colors has, and blanks at
// the ends of lines.
func unreversed(text string) string {
	text = strings.NewReplacer("\x1b[7m", "", "\x1b[m", "").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// TestSizes: each page fits each size, whatever agents wrote.
func TestSizes(t *testing.T) {
	t.Parallel()
	hostile := []string{"\x1b[2J\x1b]0;t\a", "\u202Etxt\u2066", strings.Repeat("\u0301", 300), strings.Repeat("界", 200), strings.Repeat("x", 1<<20), "a\nb\r\tc\x00\xff"}
	book := codemod()
	for i, c := range book.Classes {
		text := hostile[i%len(hostile)]
		c.Head, c.Beside = text, hostile
		for _, e := range c.Edits {
			e.Reasons, e.Remarks = []string{text}, []string{text}
			e.Hunk = tui.Hunk{Path: text, Language: text[:1], About: text, Before: hostile, Removed: hostile, Added: hostile, After: hostile}
		}
	}
	for _, size := range []struct{ width, height int }{{1, 1}, {3, 2}, {20, 5}, {80, 24}, {200, 50}} {
		p := sit(size.width, size.height, book)
		for _, k := range []tui.Key{"J", "J", "J", "J", "J", "v", "b", "b", "?", "?", "pgdown", "right", "c", "esc", "/", "z", "enter", "esc"} {
			p.types(k)
			lines := p.Lines()
			if len(lines) > size.height {
				t.Fatalf("%s: %d lines at %v", k, len(lines), size)
			}
			for _, line := range lines {
				if n := termtext.Columns(line); n > size.width {
					t.Fatalf("%s: %d columns at %v: %q", k, n, size, line)
				}
				for _, r := range unreversed(line) {
					if !unicode.IsPrint(r) {
						t.Fatalf("%s: %U in %q", k, r, line)
					}
				}
			}
		}
	}
}

// large is a review of 100 patches with 10,000 edits.
func large() *Book {
	b := &Book{Run: "k3x9q2"}
	for i := range 1000 {
		c := &Class{ID: fmt.Sprintf("C%d", i+1), Head: "10 edits, code, go"}
		for k := range 10 {
			c.Edits = append(c.Edits, &Edit{Patch: task.ID(fmt.Sprintf("a%d", (i+k)%100+1)), Hunk: tui.Hunk{
				Path: fmt.Sprintf("p%d/f%d.go", k, i), Language: "go", NewLine: 7,
				Before: []string{"func f() {"}, Removed: []string{"\treturn old(1, \"x\")"}, Added: []string{"\treturn new(1, \"x\") // done"}, After: []string{"}"},
			}})
		}
		b.Classes = append(b.Classes, c)
	}
	return b
}

// BenchmarkFirstFrame is a new review of 10,000 edits and its first picture.
func BenchmarkFirstFrame(b *testing.B) {
	book := large()
	b.ReportAllocs()
	for b.Loop() {
		s := New(Request{Book: book, Desk: &fake{}, Color: true})
		s.Resize(200, 50)
		s.Lines()
	}
}

// BenchmarkKey is a key with the picture after it.
func BenchmarkKey(b *testing.B) {
	s := New(Request{Book: large(), Desk: &fake{}, Color: true})
	s.Resize(200, 50)
	b.ReportAllocs()
	for b.Loop() {
		s.Update(tui.Key("j"))
		s.Lines()
	}
}

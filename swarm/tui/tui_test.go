package tui

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"agentswarm/internal/termtext"
)

// TestList: the selected row stays selected and in sight while rows change.
func TestList(t *testing.T) {
	t.Parallel()
	var l List
	var all []Entry
	for i := range 30 {
		all = append(all, Entry{Key: fmt.Sprint("k", i), Group: fmt.Sprint("g", i/10)})
	}
	draw := func() string {
		return strings.Join(l.Draw(5, func(g string) string { return g }, func(i int, selected bool) string {
			if selected {
				return ">" + all[i].Key
			}
			return all[i].Key
		}), " ")
	}
	l.Set(all)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "g0 >k0 k1 k2 k3"},
		{func() { l.Move(5) }, "k1 k2 k3 k4 >k5"},
		{func() { l.NextGroup(true) }, "k7 k8 k9 g1 >k10"},
		{func() { l.NextGroup(false) }, "g0 >k0 k1 k2 k3"},
		{func() { l.Move(1 << 30) }, "k25 k26 k27 k28 >k29"},
		{func() { l.NextGroup(false) }, "g2 >k20 k21 k22 k23"},
		{func() { l.Select("k12"); all = all[10:]; l.Set(all) }, ">k12 k13 k14 k15 k16"},
		{func() { all = all[5:]; l.Set(all) }, ">k17 k18 k19 g2 k20"},
		{func() { all = nil; l.Set(all) }, ""},
	} {
		if step.do(); draw() != step.want {
			t.Errorf("shows %q, want %q", draw(), step.want)
		}
	}
	if l.Selected() != "" || l.Position() != "0/0" {
		t.Errorf("an empty list selects %q, %s", l.Selected(), l.Position())
	}
}

// TestPrompt: editing of a line.
func TestPrompt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keys []any
		want string
		open bool
	}{
		{[]any{Key("a"), Key("space"), Key("ü")}, "a ü", true},
		{[]any{Key("a"), Key("ü"), Key("backspace")}, "a", true},
		{[]any{Key("backspace"), Key("up"), Key("ctrl+x")}, "", true},
		{[]any{Paste("one two\nthree\x1b[2J")}, "one two three[2J", true},
		{[]any{Paste("one two"), Key("ctrl+w"), Key("x")}, "one x", true},
		{[]any{Paste("one two"), Key("ctrl+u")}, "", true},
		{[]any{Paste("one"), Key("enter")}, "one", false},
		{[]any{Paste("one"), Key("esc")}, "", false},
		{[]any{Paste("one"), Key("ctrl+c")}, "", false},
		{[]any{Paste(strings.Repeat("x", longestPrompt+1))}, "", true},
	} {
		p, open := &Prompt{}, true
		for _, k := range test.keys {
			open, _ = p.Update(k)
		}
		if p.Text != test.want || open != test.open {
			t.Errorf("%q: %q, open %t; want %q, %t", test.keys, p.Text, open, test.want, test.open)
		}
	}
}

// TestDiffPane checks lines of hunks below each other and side by side,
// whatever they hold.
func TestDiffPane(t *testing.T) {
	t.Parallel()
	d := DiffPane{}
	d.Set([]Hunk{
		{Path: "a.go", NewLine: 3, Before: []string{"before"}, Removed: []string{"old", "older"}, Added: []string{"new"}, After: []string{"after"}},
		{Path: "b", About: "binary"},
	})
	p := NewPalette(false)
	if got, want := strings.Join(d.Draw(p, 80, 50), "\n"), "a.go:3\n before\n-old\n-older\n+new\n after\n\nb  binary\n"; got != want {
		t.Errorf("shows %q, want %q", got, want)
	}
	wide := strings.Join(d.Draw(p, 160, 50), "\n")
	if !strings.Contains(wide, "-old") || !strings.Contains(strings.Split(wide, "\n")[2], "│ +new") || len(strings.Split(wide, "\n")) != 8 {
		t.Errorf("wide it shows\n%s", wide)
	}
	d.NextHunk(true)
	if got := d.Draw(p, 160, 1)[0]; got != "b  binary" || d.Current().Path != "b" {
		t.Errorf("the next change is %q", got)
	}
	d.NextHunk(false)
	if d.Current().Path != "a.go" {
		t.Error("the change before is not reached")
	}
}

// TestHostileCode: no line of code breaks out of its line, at any width.
func TestHostileCode(t *testing.T) {
	t.Parallel()
	d := DiffPane{Code: NewCode()}
	lines := []string{
		"\x1b[2J\x1b]52;c;aGk=\a", "\u202Eif x {\u2066", "\t\t界界界 // comment \x9b31m", strings.Repeat("界", 1<<19), strings.Repeat("\"", 5000), "\xff\xfe\r\n",
		strings.Repeat("\u0301", 4000), strings.Repeat("((((", 2000) + "/*",
	}
	for _, language := range []string{"go", "py", "sh", "html", "sql", "unknown", ""} {
		d.Set([]Hunk{{Path: lines[0] + lines[1], Language: language, About: lines[2], Before: lines, Removed: lines, Added: lines, After: lines}})
		for _, width := range []int{1, 2, 9, 80, 200} {
			for _, color := range []bool{false, true} {
				for _, line := range d.Draw(NewPalette(color), width, 1000) {
					if n := termtext.Columns(line); n > width {
						t.Fatalf("%s: %d columns in %d: %q", language, n, width, line)
					}
					for _, r := range plain(line) {
						if !unicode.IsPrint(r) {
							t.Fatalf("%s: %U in %q", language, r, line)
						}
					}
				}
			}
		}
	}
}

// plain is a line without the styles of a palette.
func plain(line string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		style, after, _ := strings.Cut(rest, "m")
		if strings.Trim(style, "0123456789;") != "" {
			return b.String() + "\x1b"
		}
		line = after
	}
}

// TestTokens: the parts of a line are the line, with their roles.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ language, text, want string }{
		{"go", `return f("x", 12) // done`, `10:return 0:  13:f 0:( 11:"x" 0:,  11:12 0:)  12:// done`},
		{"py", `if x == 'a':  # why`, `10:if 0: x ==  11:'a' 0::   12:# why`},
		{"yaml", `on: true`, `10:on 0::  10:true`},
		{"none", `return`, `0:return`},
	} {
		var got []string
		whole := ""
		for _, tok := range NewCode().Tokens(test.language, test.text) {
			got = append(got, fmt.Sprintf("%d:%s", tok.Role, tok.Text))
			whole += tok.Text
		}
		if strings.Join(got, " ") != test.want || whole != test.text {
			t.Errorf("%s: %q is %q, want %q", test.language, test.text, strings.Join(got, " "), test.want)
		}
	}
}

// FuzzTokens: the parts of any line are the line.
func FuzzTokens(f *testing.F) {
	f.Add("go", "x := `a")
	f.Add("py", "'''")
	f.Fuzz(func(t *testing.T, language, text string) {
		whole := ""
		for _, tok := range NewCode().Tokens(language, text) {
			whole += tok.Text
		}
		if whole != text {
			t.Errorf("%q becomes %q", text, whole)
		}
	})
}

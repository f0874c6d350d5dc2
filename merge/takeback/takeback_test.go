package takeback

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// text makes a file of words, a line each.
func text(words string) []byte {
	if words == "" {
		return nil
	}
	return []byte(strings.ReplaceAll(words, " ", "\n") + "\n")
}

// shown is a list of lines in short: "3:x" for a lost line, "+2:y" for a line that came
// back.
func shown(lines []Line) string {
	var all []string
	for _, l := range lines {
		sign := ""
		if l.Back {
			sign = "+"
		}
		all = append(all, fmt.Sprintf("%s%d:%s", sign, l.Number, l.Text))
	}
	return strings.Join(all, " ")
}

// TestFind: lines that landed and are gone again are found, and those that were changed
// further or moved are not.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, before, now, after, want string
	}{
		{"nothing landed", "a b c", "a b c", "a x c", ""},
		{"nothing touched it", "a b c", "a B c", "a B c d", ""},
		{"the old line is back", "a b c", "a B c", "a b c", "2:B"},
		{"a whole file from the old version", "a b c d e f", "a B c d e f new", "a b c mine e f", "2:B 7:new"},
		{"an own edit right beside it", "a b c d", "a B c d", "mine b c d", "2:B"},
		{"an own edit right beside an added line", "a c d", "a b c d", "mine c d", "2:b"},
		{"the line is changed further", "a b c", "a B c", "a BB c", ""},
		{"added lines are changed further", "a c", "a x y c", "a xx yy c", ""},
		{"an added line is removed", "a c", "a x y c", "a x c", "3:y"},
		{"an added line moved", "a c d", "a x c d", "a c d x", ""},
		{"it is only indented", "a c", "a x c", "a \tx c", ""},
		{"a removed line is back", "a b c", "a c", "a b c", "+2:b"},
		{"a removed line is back in another form", "a b c", "a c", "a bb c", ""},
		{"a file that landed is gone", "", "x y", "", "1:x 2:y"},
		{"a file that was removed is back", "x y", "", "x y", "+1:x +2:y"},
		{"a changed file is removed", "a b", "a B", "", "2:B"},
		{"only signs are gone", "a } c", "a } } c", "a } c", ""},
		{"one of two equal lines stays", "a x c", "a x c x", "a x c", "4:x"},
	} {
		if got := shown(Find(Texts{Before: text(tt.before), Now: text(tt.now), After: text(tt.after)})); got != tt.want {
			t.Errorf("%s: Find = %q, want %q", tt.name, got, tt.want)
		}
	}
	moved := Texts{Before: text("a"), Now: text("a x"), Elsewhere: map[string]int{"x": 1}}
	if got := Find(moved); len(got) > 0 {
		t.Errorf("a line that moved to another file: Find = %q, want none", shown(got))
	}
}

// TestFindInResolution: a resolution may change lines where it was asked to, and has to
// combine both sides there. Elsewhere it keeps each line.
func TestFindInResolution(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, before, now, after, theirs, want string
		start, lines                           int
	}{
		{"both are combined", "a b c", "a one c", "a one-and-two c", "two", "", 2, 1},
		{"both stand one after the other", "a b c", "a one c", "a one two c", "two", "", 2, 1},
		{"the other side wins", "a b c", "a one c", "a two c", "two", "2:one", 2, 1},
		{"the old line wins", "a b c", "a one c", "a b c", "two", "2:one", 2, 1},
		{"nothing is left", "a b c", "a one c", "a c", "two", "2:one", 2, 1},
		{"the own side wins", "a b c", "a one c", "a one c", "two", "", 2, 1},
		{"a line elsewhere is changed", "a b c d", "a one c D", "a both c DD", "two", "4:D", 2, 1},
		{"a line elsewhere is gone", "a b c d", "a one c d e", "a both c d", "two", "5:e", 2, 1},
		{"lines of the file itself may change", "a b c d", "a one c d", "a both c mine", "two", "", 2, 1},
	} {
		got := shown(FindInResolution(Texts{Before: text(tt.before), Now: text(tt.now), After: text(tt.after)},
			[]Region{{Start: tt.start, Lines: tt.lines, Theirs: strings.Fields(tt.theirs)}}))
		if got != tt.want {
			t.Errorf("%s: FindInResolution = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestDiff: the hunks turn the first text into the second, and the rest of both
// is equal.
func TestDiff(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	words := func(n, of int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprint("w", random.IntN(of))
		}
		return list
	}
	for range 500 {
		a, b := words(random.IntN(30), 1+random.IntN(40)), words(random.IntN(30), 1+random.IntN(40))
		if random.IntN(2) == 0 {
			b = slices.Clone(a)
			for i := range b {
				if random.IntN(6) == 0 {
					b[i] = "changed"
				}
			}
		}
		var out []string
		at, bAt := 0, 0
		for _, h := range diff(a, b) {
			if !slices.Equal(a[at:h.a0], b[bAt:h.b0]) || h.a0 == h.a1 && h.b0 == h.b1 {
				t.Fatalf("diff(%q, %q): a wrong hunk %v", a, b, h)
			}
			out = append(append(out, a[at:h.a0]...), b[h.b0:h.b1]...)
			at, bAt = h.a1, h.b1
		}
		if out = append(out, a[at:]...); !slices.Equal(out, b) {
			t.Fatalf("diff(%q, %q) makes %q", a, b, out)
		}
	}
	many := words(5000, 3)
	if got := diff(many, words(5000, 3)); len(got) == 0 {
		t.Error("diff of two long texts found no hunk")
	}
}

// FuzzFind: no text makes it fail, and a work that changes nothing takes nothing back.
func FuzzFind(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nB\n"), []byte("a\nb\n"))
	f.Fuzz(func(t *testing.T, before, now, after []byte) {
		if got := Find(Texts{Before: before, Now: now, After: now}); len(got) > 0 {
			t.Errorf("Find of no work = %q, want none", shown(got))
		}
		FindInResolution(Texts{Before: before, Now: now, After: after}, []Region{{Start: 1, Lines: 3}})
	})
}

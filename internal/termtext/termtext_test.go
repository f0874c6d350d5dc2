package termtext

import (
	"strings"
	"testing"
	"unicode"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""}, {"one two", 7, "one two"}, {"one two", 6, "one|two"}, {"abcdefghij k", 4, "abcd|efgh|ij k"}, {"界界界", 4, "界界|界"}, {"界", 1, "界"},
	} {
		if got := strings.Join(Wrap(test.text, test.n), "|"); got != test.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", test.text, test.n, got, test.want)
		}
	}
}

// FuzzHead: the head of any text is printable and fits.
func FuzzHead(f *testing.F) {
	f.Add("\x1b[2J\u202Eabc界", 5)
	f.Add(strings.Repeat("\u0301", 500)+"x\xff", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n %= 300
		got := Head(text, n)
		if Columns(got) > max(0, n) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Head(%q, %d) = %q", text, n, got)
		}
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c", "d"}
	for most, want := range map[int]string{4: "a, b, c, d", 3: "a, b, c, d", 2: "a, b, and 2 more", 1: "a, and 3 more"} {
		if got := List(words, most); got != want {
			t.Errorf("List(%q, %d) = %q, want %q", words, most, got, want)
		}
	}
}

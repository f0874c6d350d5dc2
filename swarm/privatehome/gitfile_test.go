package privatehome

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestReadGit has the cases of git-config(1), syntax; their results are those of
// `git config --list -z`.
func TestReadGit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		give string
		want []string
	}{
		{"", nil},
		{"[a]\nk=v\n[A \"S\"]\nK = v\n[a.B]k", []string{"a.k=v", "a.S.k=v", "a.b.k"}},
		{"[a \"x\\\"y\\\\z\\q\"]k=1", []string{"a.x\"y\\zq.k=1"}},
		{"[a]\nk = x  y\t # c\nl = \"x \" y ; c\nm=\" ; \"\n", []string{"a.k=x  y", "a.l=x  y", "a.m= ; "}},
		{"[a]\nk = x\\\n  y\\t\\\"\\\\\nl\n", []string{"a.k=x  y\t\"\\", "a.l"}},
		{"[a]\r\nk = v\r\n; c\r\n# c\n\tl=\r\n", []string{"a.k=v", "a.l="}},
		{"\ufeff[a]k=v", []string{"a.k=v"}},
		// Git ends with an error behind these.
		{"[a]\nk=v\nl=\"x\n[b]m=1", []string{"a.k=v"}},
		{"[a]\nk=v\n1=2\n", []string{"a.k=v"}},
		{"[a]\nk=\\x\n", nil},
		{"[a\nk=v", nil}, {"[a \"b]\nk=v", nil}, {"[a \"b\"x]\nk=v", nil}, {"[a b]\nk=v", nil}, {"k=v", nil}, {"[a_b]\nk=v", nil}, {"[a]k v", nil},
	} {
		var got []string
		for _, e := range readGit([]byte(tc.give)) {
			got = append(got, e.String())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("readGit(%q) = %q, want %q", tc.give, got, tc.want)
		}
	}
}

// String is a variable as `git config --list` shows it.
func (e gitEntry) String() string {
	name := e.section + "." + e.key
	if e.hasSub {
		name = e.section + "." + e.sub + "." + e.key
	}
	if e.bare {
		return name
	}
	return name + "=" + e.value
}

// FuzzReadGit: the variables of a text can be written, and are read again.
func FuzzReadGit(f *testing.F) {
	f.Add("[a \"b\"]\n\tk = \"x \\\" y\" # c\nl\n[c.d]e=f\\\n g\n")
	f.Fuzz(func(t *testing.T, text string) {
		all := slices.DeleteFunc(readGit([]byte(text)), func(e gitEntry) bool { return strings.ContainsAny(e.value+e.sub, "\r\x00") })
		again := readGit(writeGit(all))
		if fmt.Sprint(again) != fmt.Sprint(all) {
			t.Errorf("%q: %q becomes %q", text, all, again)
		}
	})
}

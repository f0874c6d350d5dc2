package review

import (
	"errors"
	"strings"
	"testing"
)

// TestSplice: each choice of edits of a file, as its content.
func TestSplice(t *testing.T) {
	t.Parallel()
	const two = "-\tx := oldOne(alpha, beta)\n-\ty := oldTwo(gamma, delta)\n+\tx := newOne(alpha, beta)\n+\tlog()\n+\ty := newTwo(gamma, delta)\n"
	for _, test := range []struct{ name, hunk, before, accepted, want string }{
		{"none", "-a\n+b\n c\n-d\n", "a\nc\nd\n", "", "a\nc\nd\n"},
		{"the first", "-a\n+b\n c\n-d\n", "a\nc\nd\n", "0", "b\nc\nd\n"},
		{"the second", "-a\n+b\n c\n-d\n", "a\nc\nd\n", "1", "a\nc\n"},
		{"both", "-a\n+b\n c\n-d\n", "a\nc\nd\n", "01", "b\nc\n"},
		{"addition", " a\n+b\n c\n", "a\nc\n", "0", "a\nb\nc\n"},
		{"CRLF", "-a\r\n+b\r\n c\r\n", "a\r\nc\r\n", "0", "b\r\nc\r\n"},
		{"a new end", "-a\n\\ No newline at end of file\n+a\n+b\n", "a", "0", "a\nb\n"},
		{"a bare end", "-a\n+b\n\\ No newline at end of file\n", "a\n", "0", "b"},
		{"a bare end that stays", "-a\n b\n\\ No newline at end of file\n", "a\nb", "0", "b"},
		{"not UTF-8", "-a\xff\n+b\xfe\n c\n", "a\xff\nc\n", "0", "b\xfe\nc\n"},
		{"a whole run of parts", two, "\tx := oldOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n", "0", "\tx := newOne(alpha, beta)\n\tlog()\n\ty := newTwo(gamma, delta)\n"},
		{"the first pair", two, "\tx := oldOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n", "a", "\tx := newOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n"},
		{"the second pair", two, "\tx := oldOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n", "b", "\tx := oldOne(alpha, beta)\n\ty := newTwo(gamma, delta)\n"},
		{"the rest", two, "\tx := oldOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n", "c", "\tx := oldOne(alpha, beta)\n\tlog()\n\ty := oldTwo(gamma, delta)\n"},
		{"all parts", two, "\tx := oldOne(alpha, beta)\n\ty := oldTwo(gamma, delta)\n", "cab", "\tx := newOne(alpha, beta)\n\tlog()\n\ty := newTwo(gamma, delta)\n"},
		{"two lines become one at the end", "-\tx := one(alpha, beta)\n-\tdone(gamma)\n+\tx := two(alpha, beta)\n\\ No newline at end of file\n", "\tx := one(alpha, beta)\n\tdone(gamma)\n", "a", "\tx := two(alpha, beta)\n\tdone(gamma)\n"},
	} {
		p := patchOf(t, "a1", "x.go", test.hunk)
		all := choices(p)
		var edits []*Edit
		for _, c := range test.accepted {
			if c >= 'a' {
				edits = append(edits, all[0].parts[c-'a'])
			} else {
				edits = append(edits, all[c-'0'].whole)
			}
		}
		got, err := Splice(&p.Files[0], []byte(test.before), edits)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: Splice = %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

// TestSpliceRefuses: content that the patch is not made for.
func TestSpliceRefuses(t *testing.T) {
	t.Parallel()
	p := patchOf(t, "a1", "x.go", " a\n-b\n+c\n")
	for _, before := range []string{"", "a\n", "a\nx\n"} {
		if got, err := Splice(&p.Files[0], []byte(before), nil); err == nil {
			t.Errorf("Splice of %q = %q", before, got)
		} else if wrong, ok := errors.AsType[*SpliceError](err); !ok || wrong.Line != 2 || !strings.HasPrefix(err.Error(), "x.go: line 2 ") {
			t.Errorf("Splice of %q: %v", before, err)
		}
	}
}

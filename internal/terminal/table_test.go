package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"agentswarm/internal/termtext"
)

func TestTable(t *testing.T) {
	t.Parallel()
	table := Table{Columns: []Column{
		{Title: "AGENT"}, {Title: "LABEL", Flex: true}, {Title: "FILES", Right: true}, {Title: "NOTE"},
	}}
	table.Row("a1", "pkg/kubelet/container/runtime", "3", "")
	table.Row("a12", "文件/é", "120", "ok")
	table.Row("a3")
	table.Row("a4", "x\x1b[31m\ny", "1", "")

	tests := []struct {
		name   string
		budget int
		want   string
	}{
		{"no limit", 0, `
AGENT  LABEL                          FILES  NOTE
a1     pkg/kubelet/container/runtime      3
a12    文件/é                           120  ok
a3
a4     x\x1b[31m\ny                       1`},
		{"shortened", 36, `
AGENT  LABEL             FILES  NOTE
a1     pkg/kube…runtime      3
a12    文件/é              120  ok
a3
a4     x\x1b[31m\ny          1`},
		{"too narrow", 20, `
AGENT  LABEL     FI…
a1     pkg/…ime    …
a12    文件/é      …
a3
a4     x\x1…\ny    …`},
	}
	for _, tt := range tests {
		got := strings.ReplaceAll("\n"+strings.Join(table.Lines(tt.budget), "\n"), "e\u0301", "é")
		if got != tt.want {
			t.Errorf("%s: Lines(%d) = %s\nwant %s", tt.name, tt.budget, got, tt.want)
		}
	}
	var b strings.Builder
	if err := table.Print(&b, 0); err != nil || b.String() != strings.Join(table.Lines(0), "\n")+"\n" {
		t.Errorf("Print = %q, %v", b.String(), err)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		give        string
		n           int
		middle, end string
	}{
		{"abcdef", 6, "abcdef", "abcdef"},
		{"abcdef", 5, "ab…ef", "abcd…"},
		{"abcdef", 4, "ab…f", "abc…"},
		{"abcdef", 1, "…", "…"},
		{"abcdef", 0, "", ""},
		{"文件文件", 8, "文件文件", "文件文件"},
		{"文件文件", 5, "文…件", "文件…"},
		{"文件文件", 4, "文…", "文…"},
		{"ae\u0301be\u0301c", 3, "a…c", "ae\u0301…"},
		{"ae\u0301be\u0301", 3, "a…e\u0301", "ae\u0301…"},
	}
	for _, tt := range tests {
		if got := ShortenMiddle(tt.give, tt.n); got != tt.middle {
			t.Errorf("shortenMiddle(%q, %d) = %q, want %q", tt.give, tt.n, got, tt.middle)
		}
		if got := ShortenEnd(tt.give, tt.n); got != tt.end {
			t.Errorf("shortenEnd(%q, %d) = %q, want %q", tt.give, tt.n, got, tt.end)
		}
	}
}

// FuzzTable checks that no cell, whatever is in it, breaks the budget.
func FuzzTable(f *testing.F) {
	f.Add("a", "pkg/文件", 10)
	f.Add("\x1b[2J", "e\u0301\u202e", 3)
	f.Fuzz(func(t *testing.T, a, b string, budget int) {
		if budget < 1 || budget > 500 {
			return
		}
		table := Table{Columns: []Column{{Title: "A"}, {Title: "B", Flex: true}, {Right: true}}}
		table.Row(a, b, "1")
		table.Row(b, a)
		for _, line := range table.Lines(budget) {
			if Columns(line) > budget {
				t.Errorf("line %q has %d columns, want at most %d", line, Columns(line), budget)
			}
			if !utf8.ValidString(line) || termtext.Line(line) != line {
				t.Errorf("line %q is not printable", line)
			}
		}
	})
}

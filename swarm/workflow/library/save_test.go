package library

import (
	"slices"
	"strings"
	"testing"
)

func TestWorkflowName(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"review": "review", "review.js": "review", "a-b_c.2": "a-b_c.2", "2": "2",
		"": "", ".js": "", "a/b": "", "../a": "", ".a": "", "-a": "", "_a": "", "a b": "", "ä": "", "a\n": "",
		strings.Repeat("a", 100): strings.Repeat("a", 100), strings.Repeat("a", 101): "",
	} {
		got, err := workflowName(word)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("workflowName(%q) = %q, %v, want %q", word, got, err, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{"a": {"a"}, "a/b/c": {"a", "a/b", "a/b/c"}} {
		if got := slices.Collect(prefixes(path)); !slices.Equal(got, want) {
			t.Errorf("prefixes(%q) = %q, want %q", path, got, want)
		}
	}
}

package git

import (
	"fmt"
	"testing"
)

func TestFilterFailure(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"error: external filter 'false' failed 1\nerror: external filter 'false' failed\nfatal: d/a b.x: smudge filter lfs failed": "lfs d/a b.x",
		"fatal: n.x: clean filter 'up' failed":  "up n.x",
		"fatal: n.x: smudge filter 'up' failed": "up n.x",
		"error: external filter 'cat' failed":   "",
		"fatal: not a git repository":           "",
	} {
		got := ""
		if f := FilterFailure(fmt.Errorf("wrapped: %w", &Error{Args: []string{"checkout-index"}, Code: 128, Stderr: said})); f != nil {
			got = f.Filter + " " + f.Path
		}
		if got != want {
			t.Errorf("FilterFailure(%q) = %q, want %q", said, got, want)
		}
	}
	if FilterFailure(fmt.Errorf("fatal: n.x: smudge filter up failed")) != nil {
		t.Error("the text of another error counts")
	}
}

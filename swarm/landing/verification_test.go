package landing

import (
	"testing"

	"agentswarm/worktree/git"
)

func TestChangedText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{nil, ""},
		{[]string{"a", "b c/é"}, "a\nb c/é\n"},
		{[]string{"two\nlines", `a "quote"`}, "\"two\\nlines\"\n\"a \\\"quote\\\"\"\n"},
	} {
		var changes []git.Change
		for _, p := range tt.paths {
			changes = append(changes, git.Change{Path: p})
		}
		if got := ChangedText(changes); got != tt.want {
			t.Errorf("ChangedText(%q) = %q, want %q", tt.paths, got, tt.want)
		}
	}
}

func TestVerifiedBy(t *testing.T) {
	t.Parallel()
	if got := VerifiedBy("t", "make"); got != "t d05aa2a15fb3" {
		t.Errorf("VerifiedBy = %q", got)
	}
}

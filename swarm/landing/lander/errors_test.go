package lander

import (
	"errors"
	"testing"

	"agentswarm/merge"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// TestBlocked: an error of a branch or a checkout that is in the way is a refusal, and a
// change of a checkout that stays open is none.
func TestBlocked(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	for _, tt := range []struct {
		name           string
		give           error
		blocked, apply bool // by blocked, and by blockedApply
		misfit         bool
	}{
		{"none", nil, false, false, false},
		{"plain", plain, false, false, false},
		{"moved", &merge.MovedError{}, true, true, false},
		{"dirty", &git.DirtyError{}, true, true, false},
		{"open", errors.Join(&checkouts.OpenError{Err: plain}, &git.DirtyError{}), false, false, false},
		{"submodule", &merge.SubmoduleError{}, false, true, false},
		{"misfit", &git.PatchError{}, false, false, true},
	} {
		if got := blocked(tt.give); is[*BlockedError](got) != tt.blocked {
			t.Errorf("%s: blocked = %T, want a refusal: %t", tt.name, got, tt.blocked)
		}
		if got := blockedApply(tt.give); is[*BlockedError](got) != tt.apply || is[*MisfitError](got) != tt.misfit {
			t.Errorf("%s: blockedApply = %T, want a refusal: %t, a misfit: %t", tt.name, got, tt.apply, tt.misfit)
		}
	}
}

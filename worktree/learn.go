package worktree

import (
	"context"
	"fmt"
)

// learn is what all captures want to know, which one of them finds out: those
// that begin at the same moment would each run a git for it. Both functions
// guard what they look at.
func learn[T any](ctx context.Context, t *Trees, known func() (T, bool), find func() (T, error)) (T, error) {
	if v, ok := known(); ok {
		return v, nil
	}
	if err := t.learning.Acquire(ctx, 1); err != nil {
		var none T
		return none, fmt.Errorf("wait for what captures have in common: %w", context.Cause(ctx))
	}
	defer t.learning.Release(1)
	if v, ok := known(); ok {
		return v, nil
	}
	return find()
}

package worktree

import (
	"context"
	"fmt"
)

// Mark is a digest of a workspace: of all its files as lstat sees them, and
// of its HEAD. Two that are equal say that nothing was written or committed
// in between, but for what is inside the git folders of submodules.
func (t *Trees) Mark(ctx context.Context, w Workspace) (string, error) {
	if err := t.own(w); err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	head, err := t.headOf(ctx, w)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	files, err := sealOf(w)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	return files + " " + string(head), nil
}

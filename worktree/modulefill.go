package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/worktree/git"
)

// ModuleFill is the commit that the folder of a submodule is to hold.
type ModuleFill struct {
	Path   string    // below the workspace; required
	From   *git.Repo // has the commit; required
	Commit git.Hash  // required
}

// FillModules checks submodules out in a workspace in which no agent has been,
// each with a git dir of its own. Those of a submodule come after it.
func (t *Trees) FillModules(ctx context.Context, w Workspace, modules []ModuleFill) error {
	if err := t.own(w); err != nil {
		return err
	}
	for _, m := range modules {
		if !filepath.IsLocal(m.Path) {
			return &OutsideError{Dir: m.Path, Root: w.Dir}
		}
		to := filepath.Join(w.files(), m.Path)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return fmt.Errorf("fill submodule %q: %w", m.Path, err)
		}
		if noSymlinks(w.files(), m.Path) == "" {
			return &OutsideError{Dir: to, Root: w.files()}
		}
		if err := m.From.CloneCommit(ctx, to, m.Commit); err != nil {
			return fmt.Errorf("fill submodule %q: %w", m.Path, err)
		}
	}
	return nil
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// ModuleFill is the commit that the folder of a submodule is to hold.
type ModuleFill struct {
	Path   string    // below the workspace; required
	From   *git.Repo // has the commit; required
	Commit git.Hash  // required
	// Lax leaves the folder empty if git cannot read the whole commit in From, as
	// from a partial clone. Submodules below it stay empty then, too.
	Lax bool
}

// ModuleSource finds the submodules that agents cannot fetch.
type ModuleSource interface {
	// Unfetchable lists submodules of a commit of the repository, parents first.
	// Links are those to look at, with nested ones: Path and New are set.
	Unfetchable(ctx context.Context, commit git.Hash, links []git.Change) ([]ModuleFill, error)
}

// FillModules checks submodules out in a workspace in which no agent has been,
// each with a git dir of its own. Those of a submodule come after it. The
// content of a folder is replaced, unless it is that commit already.
func (t *Trees) FillModules(ctx context.Context, w workspace.Workspace, modules []ModuleFill) error {
	if err := t.own(w); err != nil {
		return err
	}
	empty := "" // a submodule that could not be filled
	for _, m := range modules {
		if empty != "" && strings.HasPrefix(m.Path, empty+"/") {
			continue
		}
		full, err := t.fillModule(ctx, w, m)
		if err != nil {
			return fmt.Errorf("fill submodule %q: %w", m.Path, err)
		}
		if !full {
			empty = m.Path
		}
	}
	return nil
}

// fillModule fills a submodule. It returns false if the folder stays empty.
func (t *Trees) fillModule(ctx context.Context, w workspace.Workspace, m ModuleFill) (bool, error) {
	if !filepath.IsLocal(m.Path) {
		return false, &OutsideError{Dir: m.Path, Root: w.Dir}
	}
	to := filepath.Join(w.Files(), m.Path)
	if head, err := os.ReadFile(filepath.Join(to, ".git", "HEAD")); err == nil && string(head) == string(m.Commit)+"\n" {
		return true, nil
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return false, err
	}
	if workspace.NoSymlinks(w.Files(), m.Path) == "" {
		return false, &OutsideError{Dir: to, Root: w.Files()}
	}
	if err := emptyFolder(to); err != nil {
		return false, err
	}
	err := m.From.CloneCommit(ctx, to, m.Commit)
	if err == nil {
		return true, nil
	}
	if _, ofGit := errors.AsType[*git.Error](err); !m.Lax || !ofGit || ctx.Err() != nil {
		return false, err
	}
	return false, emptyFolder(to)
}

// emptyFolder removes all that a folder holds.
func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, disk.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// leaseModules fills the submodules of the base of a new workspace that agents
// cannot fetch.
func (t *Trees) leaseModules(ctx context.Context, w workspace.Workspace) error {
	if t.Modules == nil {
		return nil
	}
	fills, err := learn(ctx, t, func() ([]ModuleFill, bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		fills, ok := t.modules[w.Base]
		return fills, ok
	}, func() ([]ModuleFill, error) {
		entries, err := t.Repo.ReadIndex(w.Index)
		if err != nil {
			return nil, err
		}
		var links []git.Change
		for _, e := range entries {
			if e.Mode == baseline.ModeLink && !e.SkipWorktree {
				links = append(links, git.Change{Path: e.Path, New: e.ID})
			}
		}
		fills, err := t.unfetchable(ctx, w.Base, links)
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.modules[w.Base] = fills
		return fills, nil
	})
	if err != nil || len(fills) == 0 {
		return err
	}
	if err := t.FillModules(ctx, w, fills); err != nil {
		return err
	}
	return t.step("modules")
}

func (t *Trees) unfetchable(ctx context.Context, commit git.Hash, links []git.Change) ([]ModuleFill, error) {
	if t.Modules == nil || len(links) == 0 {
		return nil, nil
	}
	fills, err := t.Modules.Unfetchable(ctx, commit, links)
	if err != nil {
		return nil, fmt.Errorf("look for submodules of %s: %w", commit.Short(), err)
	}
	return fills, nil
}

// clearModules removes the folders of submodules that the commit does not have, or
// has at another commit. Restore makes those that stay.
func (r *restoring) clearModules(context.Context) error {
	for _, c := range r.changes {
		if c.OldMode != baseline.LinkMode || workspace.NoSymlinks(r.Workspace.Files(), c.Path) == "" {
			continue
		}
		if err := disk.RemoveAll(filepath.Join(r.Workspace.Files(), c.Path)); err != nil {
			return err
		}
	}
	return nil
}

// fillModules fills the submodules that the commit moves.
func (r *restoring) fillModules(ctx context.Context, commit git.Hash) error {
	links := slices.DeleteFunc(slices.Clone(r.changes), func(c git.Change) bool { return c.NewMode != baseline.LinkMode })
	fills, err := r.unfetchable(ctx, commit, links)
	if err != nil || len(fills) == 0 {
		return err
	}
	return r.FillModules(ctx, r.Workspace, fills)
}

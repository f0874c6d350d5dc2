package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// Mark is a digest of a workspace: of the lstat of all its files, and of its
// HEAD. Equal digests mean that no file was written and no commit made in
// between. The content of the git folders of submodules does not count.
func (t *Trees) Mark(ctx context.Context, w workspace.Workspace) (string, error) {
	if err := t.own(w); err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	head, err := t.headOf(ctx, w)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	files, err := survey.SealOf(w)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", w.Name, err)
	}
	return files + " " + string(head), nil
}

// Head is the commit that a workspace's HEAD leads to; empty where it leads to
// none.
func (t *Trees) Head(ctx context.Context, w workspace.Workspace) (git.Hash, error) {
	return t.headOf(ctx, w)
}

// headOf is the commit that a workspace's HEAD leads to; empty where it leads
// to none. Where the git dir is an agent's own, no git is run in it: its
// configuration can name programs.
func (t *Trees) headOf(ctx context.Context, w workspace.Workspace) (git.Hash, error) {
	if w.Shell != "" {
		return t.Repo.PrivateHead(w.Admin, filepath.Join(w.Shell, ".git"))
	}
	if w.Private() {
		return t.Repo.PrivateHead(w.Admin)
	}
	return t.Repo.HeadOf(ctx, w.Admin)
}

// moduleHead is the commit that a populated submodule is at; empty where that
// cannot be told.
func (t *Trees) moduleHead(ctx context.Context, w workspace.Workspace, path string) (git.Hash, error) {
	if _, err := os.Lstat(filepath.Join(w.Files(), path, ".git")); err != nil {
		return "", err
	}
	dir := w.ModuleAdmin(path)
	if dir == "" {
		return "", nil
	}
	return t.Repo.PrivateHead(dir)
}

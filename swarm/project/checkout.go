package project

import (
	"context"
	"errors"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/worktree/git"
)

// InNested reports whether a file of the checkout lies in a repository within it, such as a
// submodule. Its text may have come from elsewhere.
func (p *Project) InNested(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || p.Repo.Bare() {
		return false
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		rel, err := filepath.Rel(p.Repo.TopLevel, dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			return false
		}
		if fspath.Exists(filepath.Join(dir, ".git")) {
			return true
		}
	}
}

// PathsOf are the paths of a file from the top of the checkout, with slashes: by its own
// name and, of a symlink, by that of its target. The folders above it may be symlinks, too.
// There are none for a file elsewhere.
func (p *Project) PathsOf(path string) ([]string, error) {
	if p.Repo.Bare() {
		return nil, nil
	}
	top, err := filepath.EvalSymlinks(p.Repo.TopLevel)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range []string{filepath.Join(dir, filepath.Base(path)), target} {
		if rel, err := filepath.Rel(top, name); err == nil && filepath.IsLocal(rel) {
			found = append(found, filepath.ToSlash(rel))
		}
	}
	return found, nil
}

// FilesAt are the files of a commit; none where there is no such commit.
func (p *Project) FilesAt(ctx context.Context, rev string) ([]string, error) {
	commit, err := p.Repo.Commit(ctx, rev)
	if bad := (*git.RevError)(nil); errors.As(err, &bad) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tree, err := p.Repo.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	entries, err := p.Repo.Tree(ctx, tree)
	return Files(entries), err
}

// Files are the paths of entries of a tree, without submodules.
func Files(entries []git.Entry) []string {
	files := make([]string, 0, len(entries))
	for _, e := range entries {
		// A submodule is a folder that is empty in every workspace.
		if e.Mode != "160000" {
			files = append(files, e.Path)
		}
	}
	return files
}

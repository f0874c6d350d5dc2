package submodule

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// All lists the repositories of the user's submodules, nested ones included: those in
// git dirs of the repository, and those whose git dir is in the checkout. It also
// lists the places that it could not read. The error is only that of the context.
func All(ctx context.Context, repo *git.Repo) ([]*git.Repo, []Failed, error) {
	l := &lister{repo: repo}
	roots := []string{filepath.Join(repo.CommonDir, "modules")}
	linked, err := filepath.Glob(filepath.Join(quoteGlob(repo.CommonDir), "worktrees", "*", "modules"))
	if err != nil {
		l.fail(repo.CommonDir, err)
	}
	for _, root := range append(roots, linked...) {
		l.gitDirs(root)
	}
	l.checkedOut(ctx, repo)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return l.all, l.failed, nil
}

// lister collects submodules.
type lister struct {
	repo   *git.Repo
	all    []*git.Repo
	failed []Failed
}

func (l *lister) fail(dir string, err error) {
	l.failed = append(l.failed, Failed{GitDir: dir, Err: err})
}

func (l *lister) add(m *git.Repo) {
	if !slices.ContainsFunc(l.all, func(k *git.Repo) bool { return k.CommonDir == m.CommonDir }) {
		l.all = append(l.all, m)
	}
}

// checkedOut adds the submodules that are checked out in a checkout, and theirs.
func (l *lister) checkedOut(ctx context.Context, parent *git.Repo) {
	if parent.TopLevel == "" {
		return
	}
	out, err := parent.Run(ctx, git.Cmd{Args: []string{"ls-files", "--stage", "-z"}})
	if err != nil {
		l.fail(parent.GitDir, err)
		return
	}
	for rec := range strings.SplitSeq(string(out), "\x00") {
		head, path, ok := strings.Cut(rec, "\t")
		if !ok || !strings.HasPrefix(head, git.Gitlink+" ") {
			continue
		}
		m, err := parent.Module(path)
		switch {
		case err != nil:
			l.fail(filepath.Join(parent.TopLevel, path), err)
		case m != nil:
			l.add(m)
			l.checkedOut(ctx, m)
		}
	}
}

// quoteGlob makes a path a pattern that matches it alone.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// gitDirs adds the git dirs below a folder, and those in their own folders of
// submodules. It follows no symlink. The folder may be missing.
func (l *lister) gitDirs(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.fail(dir, err)
		}
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		at := filepath.Join(dir, e.Name())
		if head, err := os.Lstat(filepath.Join(at, "HEAD")); err == nil && head.Mode().IsRegular() {
			l.add(l.repo.Store(at))
			at = filepath.Join(at, "modules")
		}
		l.gitDirs(at)
	}
}

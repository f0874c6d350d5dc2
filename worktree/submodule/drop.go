package submodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentswarm/worktree/git"
)

// DropRequest names refs that [Bring] made for a run.
type DropRequest struct {
	Repo *git.Repo // required; the user's repository
	// Run is the prefix of all refs of the run, such as "refs/swarm/RUN/", in all
	// repositories. Required.
	Run     string
	Since   time.Time // no commit recorded the commits of the refs before; zero: unknown
	Message string    // for reflogs; required
	DryRun  bool
}

// Held is a ref of a run in a submodule of the user.
type Held struct {
	GitDir, Ref string
	Commit      git.Hash
}

// Drop deletes the refs of a run in the user's submodules. It keeps a ref if a commit
// of the user's records the commit of the ref, and no branch, tag or remote of the
// submodule has it: git would prune it.
func Drop(ctx context.Context, r DropRequest) (dropped, kept []Held, err error) {
	modules, err := All(ctx, r.Repo)
	if err != nil {
		return nil, nil, err
	}
	parents := append([]*git.Repo{r.Repo}, modules...)
	for _, m := range modules {
		refs, err := m.RefsUnder(ctx, r.Run)
		if err != nil {
			return dropped, kept, fmt.Errorf("look for refs in %s: %w", m.GitDir, err)
		}
		var updates []git.RefUpdate
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			needed, err := r.needed(ctx, m, parents, refs[name])
			if err != nil {
				return dropped, kept, fmt.Errorf("look for commit %s of %s: %w", refs[name].Short(), m.GitDir, err)
			}
			h := Held{GitDir: m.CommonDir, Ref: name, Commit: refs[name]}
			if needed {
				kept = append(kept, h)
				continue
			}
			dropped = append(dropped, h)
			updates = append(updates, git.RefUpdate{Ref: name, Old: refs[name]})
		}
		if len(updates) == 0 || r.DryRun {
			continue
		}
		if err := m.UpdateRefs(ctx, r.Message, updates...); err != nil {
			return dropped, kept, err
		}
	}
	return dropped, kept, nil
}

// needed reports whether only a ref of the run holds a commit that is recorded.
func (r DropRequest) needed(ctx context.Context, m *git.Repo, parents []*git.Repo, commit git.Hash) (bool, error) {
	held, err := m.Run(ctx, git.Cmd{Args: []string{
		"for-each-ref", "--count=1", "--format=%(refname)", "--contains=" + string(commit), "refs/heads", "refs/tags", "refs/remotes",
	}})
	if err != nil || len(held) > 0 {
		return false, err
	}
	args := []string{"log", "-m", "-1", "--format=%H", "--no-patch", "--ignore-submodules=none", "--find-object=" + string(commit)}
	if !r.Since.IsZero() {
		args = append(args, "--since="+strconv.FormatInt(r.Since.Unix(), 10))
	}
	args = append(args, "--exclude="+r.Run+"*", "--all")
	for _, p := range parents {
		out, err := p.Run(ctx, git.Cmd{Args: args})
		if err != nil || len(out) > 0 {
			return len(out) > 0, err
		}
	}
	return false, nil
}

// All lists the repositories of the user's submodules, nested ones included: those in
// git dirs of the repository, and those whose git dir is in the checkout.
func All(ctx context.Context, repo *git.Repo) ([]*git.Repo, error) {
	var all []*git.Repo
	add := func(m *git.Repo) bool {
		if slices.ContainsFunc(all, func(k *git.Repo) bool { return k.CommonDir == m.CommonDir }) {
			return false
		}
		all = append(all, m)
		return true
	}
	roots := []string{filepath.Join(repo.CommonDir, "modules")}
	linked, err := filepath.Glob(filepath.Join(quoteGlob(repo.CommonDir), "worktrees", "*", "modules"))
	if err != nil {
		return nil, err
	}
	for _, root := range append(roots, linked...) {
		if err := gitDirs(root, func(dir string) { add(repo.Store(dir)) }); err != nil {
			return nil, err
		}
	}
	var checkedOut func(parent *git.Repo) error
	checkedOut = func(parent *git.Repo) error {
		if parent.TopLevel == "" {
			return nil
		}
		out, err := parent.Run(ctx, git.Cmd{Args: []string{"ls-files", "--stage", "-z"}})
		if err != nil {
			return err
		}
		for rec := range strings.SplitSeq(string(out), "\x00") {
			head, path, ok := strings.Cut(rec, "\t")
			if !ok || !strings.HasPrefix(head, git.Gitlink+" ") {
				continue
			}
			m, err := parent.Module(path)
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
			add(m)
			if err := checkedOut(m); err != nil {
				return err
			}
		}
		return nil
	}
	return all, checkedOut(repo)
}

// quoteGlob makes a path a pattern that matches it alone.
func quoteGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// gitDirs calls found with the git dirs below a folder, and with those in their own
// folders of submodules. It follows no symlink. The folder may be missing.
func gitDirs(dir string, found func(string)) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		at := filepath.Join(dir, e.Name())
		if head, err := os.Lstat(filepath.Join(at, "HEAD")); err == nil && head.Mode().IsRegular() {
			found(at)
			at = filepath.Join(at, "modules")
		}
		if err := gitDirs(at, found); err != nil {
			return err
		}
	}
	return nil
}

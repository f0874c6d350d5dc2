package submodule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentswarm/worktree/git"
)

// DropRequest names refs that [Bring] made for a run.
type DropRequest struct {
	Repo    *git.Repo   // required; the user's repository
	Modules []*git.Repo // its submodules, as [All] lists them
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

// Failed is a submodule that git could not read or write. Its refs stay.
type Failed struct {
	GitDir string // or the folder in which git dirs may be
	Err    error
}

// Drops is the result of [Drop].
type Drops struct {
	Dropped, Kept []Held
	Failed        []Failed
}

// Drop deletes the refs of a run in the user's submodules. It keeps a ref if a commit
// of the user's records the commit of the ref, and no branch, tag or remote of the
// submodule has it: git would prune it. It also keeps the refs of a submodule that
// fails. The error is only that of the context.
func Drop(ctx context.Context, r DropRequest) (all Drops, err error) {
	for _, m := range r.Modules {
		one, err := r.drop(ctx, m)
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		all.Dropped = append(all.Dropped, one.Dropped...)
		all.Kept = append(all.Kept, one.Kept...)
		if err != nil {
			all.Failed = append(all.Failed, Failed{GitDir: m.CommonDir, Err: err})
		}
	}
	return all, nil
}

// drop deletes the refs of the run in a submodule. A ref that fails stays, and the
// others go.
func (r DropRequest) drop(ctx context.Context, m *git.Repo) (done Drops, err error) {
	refs, err := m.RefsUnder(ctx, r.Run)
	if err != nil {
		return done, fmt.Errorf("look for refs of the run: %w", err)
	}
	var updates []git.RefUpdate
	var failed error
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		h := Held{GitDir: m.CommonDir, Ref: name, Commit: refs[name]}
		needed, err := r.needed(ctx, m, refs[name])
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("look for commit %s of %s: %w", h.Commit.Short(), name, err))
		case needed:
			done.Kept = append(done.Kept, h)
		default:
			done.Dropped = append(done.Dropped, h)
			updates = append(updates, git.RefUpdate{Ref: name, Old: refs[name]})
		}
	}
	if len(updates) == 0 || r.DryRun {
		return done, failed
	}
	if err := m.UpdateRefs(ctx, r.Message, updates...); err != nil {
		done.Dropped = nil
		return done, errors.Join(failed, err)
	}
	return done, failed
}

// needed reports whether only a ref of the run holds a commit that is recorded.
func (r DropRequest) needed(ctx context.Context, m *git.Repo, commit git.Hash) (bool, error) {
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
	for _, p := range append([]*git.Repo{r.Repo}, r.Modules...) {
		out, err := p.Run(ctx, git.Cmd{Args: args})
		if err != nil && ctx.Err() == nil && !r.mayHold(p, m) {
			continue
		}
		if err != nil || len(out) > 0 {
			return len(out) > 0, err
		}
	}
	return false, nil
}

// mayHold reports whether m can be a submodule of p: a damaged repository of which it
// is none must not keep its refs.
func (r DropRequest) mayHold(p, m *git.Repo) bool {
	if p == r.Repo || p == m {
		return true
	}
	child, inside := r.place(m)
	parent, known := r.place(p)
	// A git dir in a checkout does not say whose checkout that is.
	return !inside || !known || strings.HasPrefix(child, parent+"/modules/")
}

// place is the path of a git dir below the user's git dir, the same for each linked
// worktree. It is false for a git dir elsewhere.
func (r DropRequest) place(m *git.Repo) (string, bool) {
	rel, ok := strings.CutPrefix(m.CommonDir, r.Repo.CommonDir+"/")
	if linked, is := strings.CutPrefix(rel, "worktrees/"); ok && is {
		_, rel, ok = strings.Cut(linked, "/")
	}
	return rel, ok
}

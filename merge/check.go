package merge

import (
	"context"
	"fmt"
	"path/filepath"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// CheckRequest is a merged commit of which [Check] says whether it could land.
type CheckRequest struct {
	Quarantine *git.Quarantine // required; holds New
	Ref        string          // required, "refs/heads/main"
	Old        git.Hash        // where Ref is; empty: it does not exist
	New        git.Hash        // required
	Scratch    string          // required; a folder that exists, for a file of ours
	Modules    Modules         // as in [LandRequest]; Refs is not used
	// Filters runs the filters of the user that could fail on the new files.
	Filters bool
}

// Check returns the error with which [Land] would refuse the commit now, for local
// changes and submodules: a [*DirtyError], [*BusyError], [*ModuleError] or
// [*ModuleBranchError]. With Filters it also returns the error of a required filter:
// see [git.FilterFailure]. It changes nothing. Land looks again.
func Check(ctx context.Context, r CheckRequest) error {
	steps, err := r.Modules.steps(ctx, r.Quarantine, r.New)
	if err != nil {
		return wrapMove(r.Ref, err)
	}
	holders, err := holdersOf(ctx, r.Quarantine.Repo(), r.Ref)
	if err != nil || len(holders) == 0 {
		return wrapMove(r.Ref, err)
	}
	changes, err := changesOf(ctx, r.Quarantine, r.Old, r.New)
	if err != nil {
		return err
	}
	modules := moduleMoves{ref: r.Ref, from: r.Old, stores: r.Modules.Stores, brought: steps}
	for _, h := range holders {
		if err := checkHolder(ctx, r, h, changes, modules); err != nil {
			return wrapMove(r.Ref, err)
		}
	}
	return nil
}

// checkHolder looks at a checkout that stands on the branch, and at those of its
// submodules that follow.
func checkHolder(ctx context.Context, r CheckRequest, h git.Holder, changes []git.Change, modules moduleMoves) error {
	if err := h.Repo.CheckMove(ctx, git.CheckRequest{From: r.Old, Changes: changes, Scratch: r.Scratch}); err != nil {
		return err
	}
	side := checkout.Side{Repo: h.Repo, From: r.Old, To: r.New, Changes: changes, Index: true}
	if err := r.tryFilters(ctx, side, r.Quarantine.Dir); err != nil {
		return err
	}
	moves, err := modules.of(ctx, h, changes)
	if err != nil {
		return err
	}
	for _, m := range moves {
		if err := m.User.CheckMove(ctx, git.CheckRequest{From: m.From, Changes: m.changes, Scratch: r.Scratch}); err != nil {
			return err
		}
		side := checkout.Side{Repo: m.User, From: m.From, To: m.To, Changes: m.changes, Index: true}
		if err := r.tryFilters(ctx, side, filepath.Join(m.Reader().CommonDir, "objects")); err != nil {
			return err
		}
	}
	return nil
}

// tryFilters runs the filters on the new files of a side whose objects are in a
// folder.
func (r CheckRequest) tryFilters(ctx context.Context, side checkout.Side, objects string) error {
	if !r.Filters {
		return nil
	}
	side.Env = git.Borrowing(objects)
	return checkout.TryFilters(ctx, side, r.Scratch)
}

// holdersOf are the checkouts that stand on a branch. None of them may be in the
// middle of something.
func holdersOf(ctx context.Context, repo *git.Repo, ref string) ([]git.Holder, error) {
	holders, err := repo.Holders(ctx, ref)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		if h.Doing != "" {
			return nil, &BusyError{Ref: ref, Dir: h.Repo.TopLevel, Doing: h.Doing}
		}
	}
	return holders, nil
}

// changesOf are the changes that a branch gets. A branch that does not exist starts
// from the empty tree.
func changesOf(ctx context.Context, q *git.Quarantine, from, to git.Hash) ([]git.Change, error) {
	if from == "" {
		from = q.Repo().EmptyTree()
	}
	return q.Changes(ctx, from, to)
}

func wrapMove(ref string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("move %s: %w", ref, err)
}

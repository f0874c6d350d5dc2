package merge

import (
	"context"
	"fmt"

	"agentswarm/worktree/git"
)

// CheckRequest is a merged commit of which [Check] says whether it could land.
type CheckRequest struct {
	Quarantine *git.Quarantine // required; holds New
	Ref        string          // required, "refs/heads/main"
	Old        git.Hash        // where Ref is; empty: it does not exist
	New        git.Hash        // required
	Scratch    string          // required; a folder that exists, for a file of ours
}

// Check returns the error with which [Land] would refuse the commit now: a
// [*DirtyError] for local changes in paths that change, or a [*BusyError]. It
// changes nothing. Land looks again.
func Check(ctx context.Context, r CheckRequest) error {
	repo := r.Quarantine.Repo()
	holders, err := holdersOf(ctx, repo, r.Ref)
	if err != nil || len(holders) == 0 {
		return wrapMove(r.Ref, err)
	}
	changes, err := changesOf(ctx, r.Quarantine, r.Old, r.New)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if err := h.Repo.CheckMove(ctx, git.CheckRequest{From: r.Old, Changes: changes, Scratch: r.Scratch}); err != nil {
			return wrapMove(r.Ref, err)
		}
	}
	return nil
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

package merge

import (
	"context"
	"fmt"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// SettleRequest is an intent whose process died. Transactions that were cut off
// have been ended by [checkout.Recover].
type SettleRequest struct {
	Repo   *git.Repo // required
	Intent Intent    // an empty Ref: an apply, or the undo of one
	Record           // as in the landing; required
}

// Settled is the outcome of it.
type Settled struct {
	// Happened is set where branch and files are where the intent wanted them.
	Happened bool
	// Files are the files of an apply that happened.
	Files []AppliedFile
}

// Settle finds the outcome of a move whose process died: by its record or,
// without a record, by the branch. It moves no file and no ref.
func Settle(ctx context.Context, req SettleRequest) (*Settled, error) {
	in := req.Intent
	ended, err := checkout.Lookup(req.Records, req.ID)
	if err != nil {
		return nil, err
	}
	if ended != nil {
		return &Settled{Happened: ended.Happened, Files: appliedFiles(ended.Files)}, nil
	}
	if in.Ref == "" {
		return &Settled{}, nil
	}
	now, err := req.Repo.Ref(ctx, in.Ref)
	if err != nil {
		return nil, fmt.Errorf("move %s: %w", in.Ref, err)
	}
	if now == in.New || now == in.Old {
		return &Settled{Happened: now == in.New}, nil
	}
	happened, err := checkout.Passed(ctx, req.Repo, checkout.Move{Old: in.Old, New: in.New, Now: now})
	return &Settled{Happened: happened}, err
}

package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// Intent is a move of a branch that is about to happen. It is journaled before
// any file or ref of the user moves. With it [Settle] finds the outcome of a
// move whose process died.
type Intent struct {
	Ref string   `json:"ref"`
	Old git.Hash `json:"old,omitempty"` // empty: the branch is made
	New git.Hash `json:"new,omitempty"` // empty: the branch is deleted
	// Checkouts are the folders whose files follow.
	Checkouts []string `json:"checkouts,omitempty"`
}

// DirtyError says that files of a checkout would be overwritten.
type DirtyError = git.DirtyError

// MovedError says that a branch is not where it was expected.
type MovedError = checkout.MovedError

// BusyError says that a checkout is in the middle of something.
type BusyError struct{ Ref, Dir, Doing string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s cannot move: %s is in progress in %s", e.Ref, e.Doing, e.Dir)
}

// Hint tells the user how to free the checkout.
func (e *BusyError) Hint() string { return "finish or abort it first" }

// HeldError says that a branch cannot be deleted because a checkout stands
// on it.
type HeldError struct{ Ref, Dir string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s cannot be deleted: it is checked out in %s", e.Ref, e.Dir)
}

// Hint tells the user how to free the branch.
func (e *HeldError) Hint() string { return "switch to another branch there first" }

// LandRequest is a merged commit that is to become a branch.
type LandRequest struct {
	Quarantine *git.Quarantine // required; holds New
	Ref        string          // required, "refs/heads/main"
	Old        git.Hash        // where Ref is; empty: it must not exist
	New        git.Hash        // required
	// Keep is a private ref that holds New from the moment it enters the
	// repository. It must not exist, or be at New already. Required.
	Keep string
	Have []git.Hash // commits the repository has, so that they are not sent
	// Modules are the submodules that the landing moves.
	Modules Modules
	Record
	Message string // for reflogs; "swarm" where empty
	// Journal keeps the intent before anything of the user's moves. Required.
	Journal func(Intent) error
}

// Record says where a transaction is recorded until its outcome is journaled.
// After a success the caller journals it and calls [checkout.Forget].
type Record struct {
	Records string // as in [checkout.Request]; required
	ID      string // likewise
	// Step, where set, is called before each write to the disk. An error from
	// it stands for the failure of that write.
	Step func(name string) error
}

// Landing is a move that happened.
type Landing struct {
	// Moved are the checkouts whose files followed.
	Moved []string
}

// Land moves a branch to a merged commit.
//
// First the objects enter the repository under the private ref. Then the branch
// and the checkouts that stand on it move in a single transaction, if they are
// clean in the paths that change. If the move is impossible, neither moves, and
// Land returns a [*DirtyError], [*BusyError], [*MovedError], [*ModuleError],
// [*ModuleBranchError] or [*checkout.WriteError]. Checkouts of submodules follow
// in the same transaction.
func Land(ctx context.Context, req LandRequest) (_ *Landing, err error) {
	t := &transit{
		repo: req.Quarantine.Repo(), ref: req.Ref, from: req.Old, to: req.New, journal: req.Journal,
	}
	defer t.wrap(&err)
	if err := t.begin(ctx, "merge", req.Record, req.Message); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.tx.Close()) }()
	changes, err := changesOf(ctx, req.Quarantine, t.from, t.to)
	if err != nil {
		return nil, err
	}
	if err := t.bringModules(ctx, req); err != nil {
		return nil, err
	}
	if err := t.check(ctx, changes); err != nil {
		return nil, err
	}
	if req.Step != nil {
		if err := req.Step("publish"); err != nil {
			return nil, fmt.Errorf("publish objects: %w", err)
		}
	}
	if err := publish(ctx, req); err != nil {
		return nil, err
	}
	return t.run(ctx)
}

// publish brings the objects in under the private ref, once.
func publish(ctx context.Context, req LandRequest) error {
	at, err := req.Quarantine.Repo().Ref(ctx, req.Keep)
	if err != nil || at == req.New {
		return err
	}
	none := func(h git.Hash) bool { return h == "" } // the old end of a new branch
	return req.Quarantine.Publish(ctx, git.PublishRequest{
		Refs:    []git.RefUpdate{{Ref: req.Keep, New: req.New}},
		Have:    slices.DeleteFunc(slices.Clone(req.Have), none),
		Message: orSwarm(req.Message),
	})
}

// orSwarm replaces an empty message for reflogs, as git refuses it.
func orSwarm(message string) string {
	if message == "" {
		return "swarm"
	}
	return message
}

// UndoRequest is a landing that is to be taken back.
type UndoRequest struct {
	Repo     *git.Repo // required
	Ref      string    // required
	Old, New git.Hash  // as in the landing
	Record
	Message string
	Journal func(Intent) error // required, as in the landing
}

// Undo moves a branch back to its commit before a landing, and deletes a branch
// that the landing made. It returns a [*MovedError] if the branch moved on
// since.
func Undo(ctx context.Context, req UndoRequest) (_ *Landing, err error) {
	t := &transit{repo: req.Repo, ref: req.Ref, from: req.New, to: req.Old, backward: true, journal: req.Journal}
	defer t.wrap(&err)
	if err := t.begin(ctx, "undo", req.Record, req.Message); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.tx.Close()) }()
	var changes []git.Change
	if t.to != "" {
		if changes, err = t.repo.Changes(ctx, t.from, t.to); err != nil {
			return nil, err
		}
	}
	if err := t.check(ctx, changes); err != nil {
		return nil, err
	}
	return t.run(ctx)
}

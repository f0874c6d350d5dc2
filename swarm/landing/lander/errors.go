package lander

import (
	"errors"

	"agentswarm/merge"
	"agentswarm/worktree/git"
	checkouts "agentswarm/worktree/git/checkout"
)

// BlockedError says that a branch, a checkout or an address is not as a landing needs it.
// The branch, the index and the files are as they were.
type BlockedError struct{ Err error }

// Error is the text of the cause.
func (e *BlockedError) Error() string { return e.Err.Error() }

// Unwrap is the cause, which may have a hint.
func (e *BlockedError) Unwrap() error { return e.Err }

// MisfitError says that a patch does not fit the files of a checkout.
type MisfitError struct{ Err *git.PatchError }

// Error is the text of the cause.
func (e *MisfitError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *MisfitError) Unwrap() error { return e.Err }

// NoLandingError says that no landing of a run stands that an undo could take back.
type NoLandingError struct{ Run string }

func (e *NoLandingError) Error() string {
	return "nothing to undo: no merge or apply of run " + e.Run + " is left"
}

// blocked wraps the errors of a branch or a tree that is not as it has to be. An error
// that leaves a change of a checkout open stays as it is.
func blocked(err error) error {
	if is[*checkouts.OpenError](err) {
		return err
	}
	if is[*git.DirtyError](err) || is[*merge.MovedError](err) || is[*merge.BusyError](err) || is[*merge.HeldError](err) ||
		is[*git.RefMovedError](err) || is[*git.RefClashError](err) || is[*checkouts.LockedError](err) ||
		is[*merge.ModuleError](err) || is[*merge.ModuleBranchError](err) {
		return &BlockedError{err}
	}
	return err
}

// blockedApply is [blocked] for an apply and its undo. A patch that does not fit is a
// [*MisfitError].
func blockedApply(err error) error {
	if misfit, ok := errors.AsType[*git.PatchError](err); ok {
		return &MisfitError{misfit}
	}
	if is[*merge.SubmoduleError](err) || is[*merge.SparseError](err) {
		return &BlockedError{err}
	}
	return blocked(err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

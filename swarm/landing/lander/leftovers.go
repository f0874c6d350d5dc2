package lander

import (
	"context"
	"errors"
	"path/filepath"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// VerificationsOf is the folder of the verifications of a run. Each has a folder of
// its own there, for its output and the files that its check leaves.
func VerificationsOf(run *store.Run) string { return filepath.Join(run.Dir, "verifications") }

// ClearRequest names a run whose merges may have left verifications.
type ClearRequest struct {
	Repo       *git.Repo          // required
	Run        *store.Run         // required
	Workspaces landing.Workspaces // of the run; required
}

// ClearVerifications removes the leftovers of a merge that was killed during its
// checks. The caller owns the run. A check may outlive its merge for a moment and
// write to its workspace, so it is ended first. A verification whose workspace is
// left has no verdict.
func ClearVerifications(ctx context.Context, r ClearRequest) error {
	names, err := landing.Leftovers(r.Workspaces)
	if err == nil && len(names) > 0 {
		_, err = proc.Sweep(ctx, r.Run.ID)
	}
	if err != nil {
		return err
	}
	err = errors.Join(landing.DropLeftovers(ctx, r.Workspaces), landing.DropCandidates(ctx, r.Repo, r.Run.ID))
	for _, name := range names {
		dir := filepath.Join(VerificationsOf(r.Run), name)
		boxes, _ := filepath.Glob(filepath.Join(dir, "box-*")) // it fails on malformed patterns only
		for _, box := range boxes {
			err = errors.Join(err, engine.RemoveBox(r.Run, box))
		}
		err = errors.Join(err, worktree.RemoveAll(dir))
	}
	return err
}

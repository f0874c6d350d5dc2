package landing

import (
	"context"
	"errors"
	"strings"

	"agentswarm/swarm/captureref"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// spacePrefix begins the names of all workspaces in which the check of a landing
// runs.
const spacePrefix = "landing."

// SpaceName is the name of the workspace of a verification, in which its check runs.
func SpaceName(verification string) string { return spacePrefix + verification }

// Workspaces are the workspaces of a run, as package worktree has them.
type Workspaces interface {
	Strays(known []string) ([]worktree.Workspace, error)
	Drop(ctx context.Context, w worktree.Workspace) error
}

// Leftovers are the names of the verifications whose workspaces an interrupted
// landing left. The caller owns the run, and no verification of it is going on.
func Leftovers(ws Workspaces) ([]string, error) {
	found, err := leftSpaces(ws)
	names := make([]string, len(found))
	for i, w := range found {
		names[i] = strings.TrimPrefix(w.Name, spacePrefix)
	}
	return names, err
}

// DropLeftovers removes these workspaces. No agent worked there, so nothing of them
// is kept.
func DropLeftovers(ctx context.Context, ws Workspaces) error {
	found, err := leftSpaces(ws)
	for _, w := range found {
		err = errors.Join(err, ws.Drop(ctx, w))
	}
	return err
}

func leftSpaces(ws Workspaces) ([]worktree.Workspace, error) {
	all, err := ws.Strays(nil)
	var found []worktree.Workspace
	for _, w := range all {
		if strings.HasPrefix(w.Name, spacePrefix) {
			found = append(found, w)
		}
	}
	return found, err
}

// DropCandidates removes the refs that hold candidates of the landings of a run.
func DropCandidates(ctx context.Context, repo *git.Repo, run string) error {
	held, err := repo.RefsUnder(ctx, captureref.Candidates(run))
	if err != nil || len(held) == 0 {
		return err
	}
	var gone []git.RefUpdate
	for ref, at := range held {
		gone = append(gone, git.RefUpdate{Ref: ref, Old: at})
	}
	return repo.UpdateRefs(ctx, "swarm merge "+run, gone...)
}

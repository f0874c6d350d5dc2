package gc

import (
	"context"
	"errors"
	"path"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// verifications removes the leftovers of killed merges of runs that have ended.
func (c *collector) verifications(ctx context.Context) error {
	entries, err := c.State.Runs()
	if err != nil {
		return err
	}
	refs, err := c.Repo.RefsUnder(ctx, git.OwnRefs)
	if err != nil {
		return err
	}
	candidates := map[string]bool{} // by the prefix of their refs
	for ref := range refs {
		candidates[path.Dir(ref)+"/"] = true
	}
	for _, e := range entries {
		if e.Damage == nil {
			err = errors.Join(err, c.verificationsOf(ctx, e.Run, candidates[captureref.Candidates(e.Run.ID)]))
		}
	}
	return err
}

// verificationsOf removes the leftovers of a run: workspaces, and candidates, the
// refs that hold commits while they are verified.
func (c *collector) verificationsOf(ctx context.Context, run *store.Run, candidates bool) error {
	var names []string
	clear := func() error { return landing.DropCandidates(ctx, c.Repo, run.ID) }
	if fspath.Exists(c.State.Trees(run.ID)) {
		trees, err := c.bareTrees(run.ID)
		if err != nil {
			return err
		}
		if names, err = landing.Leftovers(trees); err != nil {
			return err
		}
		clear = func() error {
			return lander.ClearVerifications(ctx, lander.ClearRequest{Repo: c.Repo, Run: run, Workspaces: trees})
		}
	}
	if len(names) == 0 && !candidates {
		return nil
	}
	owner, err := run.Own(ctx)
	if busy := (*store.BusyError)(nil); errors.As(err, &busy) {
		return nil // a merge is at work there
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		c.removed("workspace", run.ID+"/"+name, 0)
	}
	if !c.DryRun {
		err = clear()
	}
	return errors.Join(err, owner.Close())
}

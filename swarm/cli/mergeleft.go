package cli

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// verificationsOf is the folder of the verifications of a run. Each has a folder of
// its own there, for its output and the files that its check leaves.
func verificationsOf(run *store.Run) string { return filepath.Join(run.Dir, "verifications") }

// clearVerifications removes the leftovers of a merge that was killed during its
// checks. The caller owns the run. A check may outlive its merge for a moment and
// write to its workspace, so it is ended first. A verification whose workspace is
// left has no verdict.
func (p *place) clearVerifications(ctx context.Context, run *store.Run, ws landing.Workspaces) error {
	names, err := landing.Leftovers(ws)
	if err == nil && len(names) > 0 {
		_, err = proc.Sweep(ctx, run.ID)
	}
	if err != nil {
		return err
	}
	err = errors.Join(landing.DropLeftovers(ctx, ws), landing.DropCandidates(ctx, p.repo, run.ID))
	for _, name := range names {
		dir := filepath.Join(verificationsOf(run), name)
		boxes, _ := filepath.Glob(filepath.Join(dir, "box-*")) // it fails on malformed patterns only
		for _, box := range boxes {
			err = errors.Join(err, engine.RemoveBox(run, box))
		}
		err = errors.Join(err, worktree.RemoveAll(dir))
	}
	return err
}

// verifications removes the leftovers of killed merges of runs that have ended.
func (g *collector) verifications(ctx context.Context) error {
	entries, err := g.state.Runs()
	if err != nil {
		return err
	}
	refs, err := g.repo.RefsUnder(ctx, git.OwnRefs)
	if err != nil {
		return err
	}
	candidates := map[string]bool{} // by the prefix of their refs
	for ref := range refs {
		candidates[path.Dir(ref)+"/"] = true
	}
	for _, e := range entries {
		if e.Damage == nil {
			err = errors.Join(err, g.verificationsOf(ctx, e.Run, candidates[captureref.Candidates(e.Run.ID)]))
		}
	}
	return err
}

// verificationsOf removes the leftovers of a run: workspaces, and candidates, the
// refs that hold commits while they are verified.
func (g *collector) verificationsOf(ctx context.Context, run *store.Run, candidates bool) error {
	var names []string
	clear := func() error { return landing.DropCandidates(ctx, g.repo, run.ID) }
	if exists(g.state.Trees(run.ID)) {
		trees, err := g.bareTrees(run.ID)
		if err != nil {
			return err
		}
		if names, err = landing.Leftovers(trees); err != nil {
			return err
		}
		clear = func() error { return g.clearVerifications(ctx, run, trees) }
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
		g.removed("workspace", run.ID+"/"+name, 0)
	}
	if !g.dry {
		err = clear()
	}
	return errors.Join(err, owner.Close())
}

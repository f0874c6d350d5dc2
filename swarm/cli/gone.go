package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"agentswarm/merge"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// mergeWork is a merge of chosen patches that is about to be made.
type mergeWork struct {
	quarantine *git.Quarantine
	request    merge.Request // without its patches
	chosen     []*store.Agent
	style      landing.Style // of the commits
	resolved   string        // as in mergeRequest
	verified   string        // as in landing.Work
}

// mergeChosen merges patches in memory. A patch whose commit is gone from the
// repository, which an agent without a sandbox can cause, is left out as one that
// conflicts is: the report names it, and its patch file is still there.
func (b *bench) mergeChosen(ctx context.Context, w mergeWork, report *mergeReport) error {
	req := w.request
	var err error
	if req.Patches, err = b.patches(w.chosen, w); err != nil {
		return err
	}
	out, err := merge.Merge(ctx, w.quarantine, req)
	if err == nil {
		report.outcome = out
		return nil
	}
	there, gone, lookErr := b.withCommits(ctx, w.chosen)
	if lookErr != nil || len(gone) == 0 {
		return errors.Join(err, lookErr)
	}
	report.lost = gone
	report.codes = append(report.codes, CodeConflict)
	if req.Patches, err = b.patches(there, w); err != nil {
		return err
	}
	report.outcome, err = merge.Merge(ctx, w.quarantine, req)
	return err
}

// withCommits tells agents whose patch is a commit that can be read from
// those where it is gone.
func (b *bench) withCommits(ctx context.Context, agents []*store.Agent) (there, gone []*store.Agent, err error) {
	for _, a := range agents {
		p := patchOf(a)
		_, err := b.repo.TreeOf(ctx, git.Hash(p.Commit))
		if err == nil {
			_, err = b.repo.TreeOf(ctx, git.Hash(p.Base))
		}
		var failed *git.Error
		switch {
		case err == nil:
			there = append(there, a)
		case errors.As(err, &failed):
			gone = append(gone, a)
		default:
			return nil, nil, err
		}
	}
	return there, gone, nil
}

// printLost tells of patches whose commits are gone.
func (r *mergeReport) printLost(w io.Writer) {
	for _, a := range r.lost {
		fmt.Fprintf(w, "left out: the commit of %s (%s) is gone from the repository; its patch is still there: git apply --index %s\n",
			a.ID, Printable(engine.Title(a.ID, a.Call)), Printable(patchOf(a).File))
	}
}

package lander

import (
	"context"
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Unfiltered is a patch that was left out: a required filter of the user's failed
// to write a file of it into a checkout.
type Unfiltered struct {
	Agent  task.ID
	Failed git.FailedFilter
}

// blameFilter finds the patches of a merge that failed because a filter failed on a
// file of theirs; none if the merge failed for another reason.
func (ld *Lander) blameFilter(ctx context.Context, report *Report, err error) (all []Unfiltered, _ error) {
	failed := git.FilterFailure(err)
	if failed == nil || report == nil || report.Outcome == nil {
		return nil, nil
	}
	for _, l := range report.Outcome.Landed {
		a := report.View.Agent(task.ID(l.ID))
		if a == nil || a.Patch() == nil {
			continue
		}
		changed, err := ld.changes(ctx, a.Patch(), failed.Path)
		if err != nil {
			return nil, err
		}
		if changed {
			all = append(all, Unfiltered{Agent: a.ID, Failed: *failed})
		}
	}
	return all, nil
}

// changes reports whether a patch changes a path.
func (ld *Lander) changes(ctx context.Context, p *task.Patch, path string) (bool, error) {
	changes, err := ld.Repo.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
	return slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == path }), err
}

// filtered leaves out the patches on whose files a filter failed in an earlier round.
func (r *MergeRequest) filtered(chosen []*store.Agent, report *Report) []*store.Agent {
	if report.Unfiltered = r.unfiltered; len(r.unfiltered) == 0 {
		return chosen
	}
	report.LeftOut = true
	return slices.DeleteFunc(slices.Clone(chosen), func(a *store.Agent) bool {
		return slices.ContainsFunc(r.unfiltered, func(u Unfiltered) bool { return u.Agent == a.ID })
	})
}

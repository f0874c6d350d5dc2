package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// mergeRounds is how often a merge with a landing queue is tried while others move
// the branch.
const mergeRounds = 3

// merge merges patches of a run this process owns onto a branch. If the branch
// moved during the checks of a landing queue, the patches that passed are merged
// onto its new tip and checked again.
func (b *bench) merge(ctx context.Context, r mergeRequest) (*mergeReport, error) {
	var last *mergeReport // of the round before
	for round := 1; ; round++ {
		report, err := b.mergeOnce(ctx, r)
		if report == nil && err != nil && r.queued.hasMoved() {
			report = last
		}
		bad, blameErr := b.blameFilter(ctx, report, err)
		if blameErr != nil {
			return b.stopped(ctx, r, report, errors.Join(err, blameErr))
		}
		if len(bad) > 0 {
			r.unfiltered = append(r.unfiltered, bad...)
			last, r.queued, round = report, report.queued, round-1 // each such round leaves a patch out
			continue
		}
		_, moved := errors.AsType[*merge.MovedError](err)
		if !moved || report == nil || report.queued == nil || round == mergeRounds {
			return b.stopped(ctx, r, report, err)
		}
		fmt.Fprintf(b.env.Stderr, "%s: %s moved during the checks; merging onto its new tip\n", program, branchName(report.ref))
		last, r.queued = report, report.queued
	}
}

// unlanded leaves out the named agents that the rounds before landed. Without any other
// agent it changes nothing.
func (r *mergeRequest) unlanded(v *store.View, named []task.ID, ref string) []task.ID {
	rest := slices.DeleteFunc(slices.Clone(named), func(id task.ID) bool {
		return r.queued.hasMoved() && landing.LandedOn(v, v.Agent(id), ref)
	})
	if len(rest) == 0 {
		return named
	}
	return rest
}

// stopped is the end of a merge. A merge that an error ends after it had moved the branch
// has a report of the patches that are there.
func (b *bench) stopped(ctx context.Context, r mergeRequest, report *mergeReport, err error) (*mergeReport, error) {
	if report != nil && report.queued == nil {
		report.queued = r.queued
	}
	if err == nil || report == nil || !report.queued.hasMoved() {
		return report, err
	}
	report.stopped = signalled(ctx, err)
	return report, errors.Join(err, b.completeJoins(context.WithoutCancel(ctx), report))
}

// unfiltered is a patch that was left out: a required filter of the user's failed
// to write one of its files into a checkout.
type unfiltered struct {
	agent  task.ID
	failed git.FailedFilter
}

// blameFilter finds the patches of a merge that failed because a filter failed on a
// file of theirs; none if the merge failed for another reason.
func (b *bench) blameFilter(ctx context.Context, report *mergeReport, err error) (all []unfiltered, _ error) {
	failed := git.FilterFailure(err)
	if failed == nil || report == nil || report.outcome == nil {
		return nil, nil
	}
	for _, l := range report.outcome.Landed {
		a := report.view.Agent(task.ID(l.ID))
		if a == nil || patchOf(a) == nil {
			continue
		}
		changed, err := b.changes(ctx, patchOf(a), failed.Path)
		if err != nil {
			return nil, err
		}
		if changed {
			all = append(all, unfiltered{agent: a.ID, failed: *failed})
		}
	}
	return all, nil
}

// changes reports whether a patch changes a path.
func (b *bench) changes(ctx context.Context, p *task.Patch, path string) (bool, error) {
	changes, err := b.repo.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
	return slices.ContainsFunc(changes, func(c git.Change) bool { return c.Path == path }), err
}

// filtered leaves out the patches on whose files a filter failed in an earlier round.
func (r *mergeRequest) filtered(chosen []*store.Agent, report *mergeReport) []*store.Agent {
	if report.filters = r.unfiltered; len(r.unfiltered) == 0 {
		return chosen
	}
	report.codes = append(report.codes, CodeConflict)
	return slices.DeleteFunc(slices.Clone(chosen), func(a *store.Agent) bool {
		return slices.ContainsFunc(r.unfiltered, func(u unfiltered) bool { return u.agent == a.ID })
	})
}

// unfilteredObject is such a patch in JSON.
type unfilteredObject struct {
	Agent  task.ID `json:"agent"`
	Filter string  `json:"filter"`
	Path   string  `json:"path"`
}

func (r *mergeReport) unfilteredObjects() (all []unfilteredObject) {
	for _, u := range r.filters {
		all = append(all, unfilteredObject{Agent: u.agent, Filter: u.failed.Filter, Path: u.failed.Path})
	}
	return all
}

func (r *mergeReport) printUnfiltered(w io.Writer) {
	for _, u := range r.filters {
		fmt.Fprintf(w, "left out: %s: %s\n", Printable(labels([]*store.Agent{r.view.Agent(u.agent)})), u.failed)
	}
}

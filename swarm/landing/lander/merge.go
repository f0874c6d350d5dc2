package lander

import (
	"context"
	"errors"
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

// Merge merges patches of the run onto a branch. If the branch
// moved during the checks of a landing queue, the patches that passed are merged
// onto its new tip and checked again.
//
// The report is nil if the merge was refused before it began. An error that came after
// the branch had moved comes with a report of the patches that are there; its Stopped is
// set. See [Refused] for the errors.
func (ld *Lander) Merge(ctx context.Context, r MergeRequest) (*Report, error) {
	var last *Report // of the round before
	for round := 1; ; round++ {
		report, err := ld.mergeOnce(ctx, r)
		if report == nil && err != nil && r.queued.HasMoved() {
			report = last
		}
		bad, blameErr := ld.blameFilter(ctx, report, err)
		if blameErr != nil {
			return ld.stopped(ctx, r, report, errors.Join(err, blameErr))
		}
		if len(bad) > 0 {
			r.unfiltered = append(r.unfiltered, bad...)
			last, r.queued, round = report, report.Queue, round-1 // each such round leaves a patch out
			continue
		}
		_, moved := errors.AsType[*merge.MovedError](err)
		if !moved || report == nil || report.Queue == nil || round == mergeRounds {
			return ld.stopped(ctx, r, report, err)
		}
		ld.report(&BranchMoved{Ref: report.Ref})
		last, r.queued = report, report.Queue
	}
}

// mergeOnce merges onto the tip that the branch has now.
func (ld *Lander) mergeOnce(ctx context.Context, r MergeRequest) (*Report, error) {
	v := ld.Owner.View()
	err := ld.Settle(ctx, v)
	if err == nil && !r.DryRun {
		err = ClearVerifications(ctx, ClearRequest{Repo: ld.Repo, Run: ld.Run, Workspaces: ld.Workspaces})
	}
	if err != nil {
		return nil, err
	}
	named, err := r.named(v)
	if err != nil {
		return nil, err
	}
	report := &Report{Run: ld.Run.ID, View: v, DryRun: r.DryRun, command: r.Verify}
	if report.Ref, err = TargetRef(ctx, ld.Repo, r.Into); err != nil {
		return nil, err
	}
	chosen, err := ld.chosenOf(ctx, &r, named, report)
	if err != nil {
		return nil, err
	}
	if chosen, err = ld.linked(ctx, r.filtered(r.queued.notRefused(chosen), report), report); err != nil {
		return nil, err
	}
	l, err := ld.openLanding(ctx, report)
	if err != nil {
		return nil, err
	}
	l.command, l.style = r.Verify, r.Style.Recorded()
	if before := v.Landing(r.Continues); before != nil && before.Stands() && before.Ref == report.Ref && git.Hash(before.New) == report.Old {
		l.continues = before.ID
	}
	if r.Verify != "" && !r.Queue.On {
		l.check = func(ctx context.Context) (bool, error) { return ld.verifyMerged(ctx, &l, r.Verify, report) }
	}
	style, committer := ld.styleOf(ctx, r.Style, r.Author), ld.committer(ctx)
	report.Committer = git.Person{Name: committer.Name, Email: committer.Email}
	if err = checkStyle(style, chosen); err == nil {
		work := mergeWork{
			quarantine: l.quarantine, chosen: chosen, style: style, resolved: r.Resolved,
			request: merge.Request{Onto: l.onto, Committer: committer, Squash: style.Squashed(ld.Run.ID, len(chosen))},
		}
		if r.Queue.On {
			err = ld.mergeQueued(ctx, &l, work, r, report)
		} else {
			err = ld.mergeChosen(ctx, work, report)
			l.attest = func(ctx context.Context) error { return ld.attest(ctx, work, r.Verify, report) }
		}
	}
	if err == nil {
		err = ld.blame(ctx, v, report)
	}
	if err == nil && !report.Queue.isOver() {
		err = ld.land(ctx, l, report)
	}
	if err == nil {
		err = ld.completeJoins(ctx, report)
	}
	return report, errors.Join(err, l.quarantine.Discard())
}

// unlanded leaves out the named agents that the rounds before landed. Without any other
// agent it changes nothing.
func (r *MergeRequest) unlanded(v *store.View, named []task.ID, ref string) []task.ID {
	rest := slices.DeleteFunc(slices.Clone(named), func(id task.ID) bool {
		return r.queued.HasMoved() && landing.LandedOn(v, v.Agent(id), ref)
	})
	if len(rest) == 0 {
		return named
	}
	return rest
}

// stopped is the end of a merge. A merge that an error ends after it had moved the branch
// has a report of the patches that are there.
func (ld *Lander) stopped(ctx context.Context, r MergeRequest, report *Report, err error) (*Report, error) {
	if report != nil && report.Queue == nil {
		report.Queue = r.queued
	}
	if err == nil || report == nil || !report.Queue.HasMoved() {
		return report, err
	}
	report.Stopped = err
	if cause := context.Cause(ctx); errors.Is(err, context.Canceled) && cause != nil {
		report.Stopped = cause
	}
	return report, errors.Join(err, ld.completeJoins(context.WithoutCancel(ctx), report))
}

// mergeWork is a merge of chosen patches that is about to be made.
type mergeWork struct {
	quarantine *git.Quarantine
	request    merge.Request // without its patches
	chosen     []*store.Agent
	style      landing.Style // of the commits
	resolved   string        // as in MergeRequest
	verified   string        // as in landing.Work
}

// mergeChosen merges patches in memory. An agent without a sandbox can remove the commit
// of a patch from the repository. Such a patch is left out and named in the report; its
// patch file is still there.
func (ld *Lander) mergeChosen(ctx context.Context, w mergeWork, report *Report) error {
	req := w.request
	var err error
	if req.Patches, err = ld.patches(w.chosen, w); err != nil {
		return err
	}
	out, err := merge.Merge(ctx, w.quarantine, req)
	if err == nil {
		report.Outcome = out
		return nil
	}
	there, gone, lookErr := ld.withCommits(ctx, w.chosen)
	if lookErr != nil || len(gone) == 0 {
		return errors.Join(err, lookErr)
	}
	report.Lost = gone
	report.LeftOut = true
	if req.Patches, err = ld.patches(there, w); err != nil {
		return err
	}
	report.Outcome, err = merge.Merge(ctx, w.quarantine, req)
	return err
}

// withCommits separates agents whose patch has a commit in the repository from those
// whose commit is gone.
func (ld *Lander) withCommits(ctx context.Context, agents []*store.Agent) (there, gone []*store.Agent, err error) {
	for _, a := range agents {
		p := a.Patch()
		_, err := ld.Repo.TreeOf(ctx, git.Hash(p.Commit))
		if err == nil {
			_, err = ld.Repo.TreeOf(ctx, git.Hash(p.Base))
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

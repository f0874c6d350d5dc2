package lander

import (
	"context"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/worktree/git"
)

// resume continues a merge that was interrupted after it had moved the branch. Its
// verdicts still count, and an undo takes both back.
func (m *queuedMerge) resume() {
	series := m.report.View.OpenSeries(m.report.Ref, string(m.move.onto), m.verify)
	if len(series) == 0 {
		return
	}
	m.move.continues = series[len(series)-1].ID
	if m.move.tip = git.Hash(series[0].Old); m.move.tip == "" {
		m.move.tip = BaseOf(m.move.base)
	}
}

// join returns the function that moves the branch to a set that has passed.
func (m *queuedMerge) join(gate *landing.Gate) func(context.Context, []string) error {
	m.joins = &landing.Joins{Quarantine: m.work.quarantine, Onto: m.move.onto, Committer: m.work.request.Committer}
	m.move.more = true
	return func(ctx context.Context, set []string) error {
		merged, err := gate.Merge(ctx, set)
		if err != nil {
			return err
		}
		m.work.verified = landing.VerifiedBy(merged.Tree, m.verify)
		patches, err := m.patchesOf(m.joins.Rest(set))
		if err != nil {
			return err
		}
		out, err := m.joins.Merge(ctx, patches, merged.Tree)
		if err != nil {
			return err
		}
		return m.moveTo(ctx, out)
	}
}

// moveTo moves the branch to the outcome of a join. The landing of each has an id of
// its own.
func (m *queuedMerge) moveTo(ctx context.Context, out *merge.Outcome) error {
	passed := true
	part := &Report{Run: m.Run.ID, View: m.report.View, Ref: m.report.Ref, Old: m.report.Old, Outcome: out, Verified: &passed}
	if queued := m.report.Queue; queued.moves > 0 {
		part.Old = m.joins.Onto
	}
	if err := m.land(ctx, *m.move, part); err != nil {
		return err
	}
	m.joins.Moved(out)
	if len(out.Landed) == 0 {
		return nil // the branch has all of it
	}
	m.report.Queue.moved(part)
	m.move.continues, m.move.onto = m.move.id, out.Commit
	m.move.id++
	m.Lander.report(&PartLanded{Ref: part.Ref, Commit: out.Commit, Patches: len(out.Landed)})
	return nil
}

// endJoins ends a merge whose patches are on the branch already. Those that do not
// merge onto the others are in conflict.
func (m *queuedMerge) endJoins(ctx context.Context, unmerged []string) error {
	report := m.report
	patches, err := m.patchesOf(unmerged)
	if err != nil {
		return err
	}
	out, err := merge.Merge(ctx, m.work.quarantine, merge.Request{
		Onto: m.joins.Onto, Patches: patches, Committer: m.work.request.Committer,
	})
	if err != nil {
		return err
	}
	report.Outcome = &merge.Outcome{Commit: m.joins.Onto, Conflicts: out.Conflicts, Undoing: out.Undoing, Empty: m.joins.Empty}
	report.Queue.over = true
	if len(out.Conflicts)+len(out.Undoing) > 0 {
		report.LeftOut = true
		now := *report
		now.Old = m.joins.Onto
		if err := m.blame(ctx, m.Owner.View(), &now); err != nil {
			return err
		}
	}
	if len(out.Conflicts) > 0 {
		if _, err := m.Owner.Append(&event.Conflicted{
			Ref: report.Ref, Tip: string(m.joins.Onto), Conflicts: Conflicts(out.Conflicts),
		}); err != nil {
			return err
		}
	}
	return m.giveUp()
}

// completeJoins adds the patches that landed before the end of the merge to its report:
// those that the branch has now. Others may have moved it since.
func (ld *Lander) completeJoins(ctx context.Context, r *Report) error {
	q := r.Queue
	if !q.HasMoved() {
		return nil
	}
	if r.Stopped != nil || r.Outcome == nil {
		r.Outcome = &merge.Outcome{} // it did not land
	}
	tip, err := ld.Repo.Ref(ctx, r.Ref)
	if err != nil {
		return err
	}
	joined, err := landing.FindJoined(landing.JoinedRequest{
		Landed: q.landed, Tip: tip, Last: ld.Owner.View().LastLanding(),
		Contains: func(commit, ancestor git.Hash) (bool, error) { return contains(ctx, ld.Repo, commit, ancestor) },
	})
	if err != nil {
		return err
	}
	passed := true
	r.Outcome.Landed, r.Left, r.Undoes = joined.Landed, joined.Left, joined.Undoes
	r.Outcome.Commit, r.New, r.Old, r.Checkouts, r.Verified = tip, tip, q.old, q.checkouts, &passed
	return nil
}

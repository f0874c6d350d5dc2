package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/worktree/git"
)

// resume continues a merge that was interrupted after it had moved the branch. Its
// verdicts still count, and an undo takes both back.
func (m *queuedMerge) resume() {
	series := m.report.view.OpenSeries(m.report.ref, string(m.move.onto), m.verify)
	if len(series) == 0 {
		return
	}
	m.move.continues = series[len(series)-1].ID
	if m.move.tip = git.Hash(series[0].Old); m.move.tip == "" {
		m.move.tip = landingBase(m.move.base)
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
	part := &mergeReport{run: m.run.ID, view: m.report.view, ref: m.report.ref, old: m.report.old, outcome: out, verified: &passed}
	if queued := m.report.queued; queued.moves > 0 {
		part.old = m.joins.Onto
	}
	if err := m.land(ctx, *m.move, part); err != nil {
		return err
	}
	m.joins.Moved(out)
	if len(out.Landed) == 0 {
		return nil // the branch has all of it
	}
	m.report.queued.moved(part)
	m.move.continues, m.move.onto = m.move.id, out.Commit
	m.move.id++
	fmt.Fprintf(m.env.Stderr, "%s: landed %s on %s %s\n", program,
		Count(len(out.Landed), "patch", "patches"), branchName(part.ref), out.Commit.Short())
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
	report.outcome = &merge.Outcome{Commit: m.joins.Onto, Conflicts: out.Conflicts, Empty: m.joins.Empty}
	report.queued.over = true
	if len(out.Conflicts) > 0 {
		report.codes = append(report.codes, CodeConflict)
		now := *report
		now.old = m.joins.Onto
		if err := m.blame(ctx, m.owner.View(), &now); err != nil {
			return err
		}
		if _, err := m.owner.Append(&event.Conflicted{
			Ref: report.ref, Tip: string(m.joins.Onto), Conflicts: conflicts(out.Conflicts),
		}); err != nil {
			return err
		}
	}
	return m.giveUp()
}

// moved notes a move of the branch.
func (q *queuedReport) moved(part *mergeReport) {
	if q.moves++; q.moves == 1 {
		q.old = part.old
	}
	q.landed = append(q.landed, part.outcome.Landed...)
	for _, dir := range part.moved {
		if !slices.Contains(q.checkouts, dir) {
			q.checkouts = append(q.checkouts, dir)
		}
	}
	q.tip = part.outcome.Commit
}

// isOver reports whether the merge is journaled to its end.
func (q *queuedReport) isOver() bool { return q != nil && q.over }

// hasMoved reports whether the merge moved the branch before its end.
func (q *queuedReport) hasMoved() bool { return q != nil && q.moves > 0 }

// completeJoins adds the patches that landed before the end of the merge to its report:
// those that the branch has now. Others may have moved it since.
func (b *bench) completeJoins(ctx context.Context, r *mergeReport) error {
	q := r.queued
	if !q.hasMoved() {
		return nil
	}
	if r.stopped != nil || r.outcome == nil {
		r.outcome = &merge.Outcome{} // what it found is not what landed
	}
	tip, err := b.repo.Ref(ctx, r.ref)
	if err != nil {
		return err
	}
	joined, err := landing.FindJoined(landing.JoinedRequest{
		Landed: q.landed, Tip: tip, Last: b.owner.View().LastLanding(),
		Contains: func(commit, ancestor git.Hash) (bool, error) { return b.contains(ctx, commit, ancestor) },
	})
	if err != nil {
		return err
	}
	passed := true
	r.outcome.Landed, r.left, r.undoes = joined.Landed, joined.Left, joined.Undoes
	r.outcome.Commit, r.new, r.old, r.moved, r.verified = tip, tip, q.old, q.checkouts, &passed
	return nil
}

// printLeft tells what became of a merge that others, or an error, came in the way of.
func (r *mergeReport) printLeft(w io.Writer) {
	if len(r.left) > 0 {
		fmt.Fprintf(w, "landed, and no longer on %s: %s\n", Printable(branchName(r.ref)), listed(r.idsOf(r.left), 5))
	}
	if r.stopped != nil {
		fmt.Fprintf(w, "the merge stopped before its end: %s\n", Printable(r.stopped.Error()))
	}
}

// printUndo tells how the merge is taken back, and how much of it an undo takes back.
func (r *mergeReport) printUndo(w io.Writer) {
	undoes, landed := len(r.undoes), len(r.outcome.Landed)
	switch {
	case !r.didMove():
	case !r.queued.hasMoved() || undoes == landed:
		fmt.Fprintf(w, "take it back with: %s undo %s\n", r.calls, r.run)
	case undoes == 0:
		fmt.Fprintf(w, "no undo takes it back: %s has moved since\n", Printable(branchName(r.ref)))
	default:
		fmt.Fprintf(w, "take %s back (%s) with: %s undo %s\n",
			Count(undoes, "patch", "patches"), listed(r.idsOf(r.undoes), 5), r.calls, r.run)
	}
}

package lander

import (
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Followed is the report of a merge together with the next merge, which took the patches
// of some agents again. A nil report stands for no merge.
func (r *Report) Followed(next *Report, again []task.ID) *Report {
	if r == nil || next == nil {
		if next == nil {
			return r
		}
		return next
	}
	other := func(id string) bool { return !slices.Contains(again, task.ID(id)) }
	out := *next
	both := *next.Outcome
	both.Landed = slices.Concat(r.Outcome.Landed, both.Landed)
	both.Empty = slices.Concat(kept(r.Outcome.Empty, other), both.Empty)
	both.Conflicts = slices.Concat(kept(r.Outcome.Conflicts, func(c merge.Conflict) bool { return other(c.ID) }), both.Conflicts)
	both.Undoing = slices.Concat(kept(r.Outcome.Undoing, func(u merge.Undoing) bool { return other(u.ID) }), both.Undoing)
	out.Outcome = &both
	if len(r.Outcome.Landed) > 0 {
		out.Several, out.Old = len(next.Outcome.Landed) > 0, r.Old
		if out.Verified = r.Verified; len(next.Outcome.Landed) == 0 {
			out.New, both.Commit, both.Tree = r.New, r.Outcome.Commit, r.Outcome.Tree
		}
	}
	for _, dir := range next.Checkouts {
		if !slices.Contains(r.Checkouts, dir) {
			out.Checkouts = append(slices.Clone(r.Checkouts), dir)
		}
	}
	if len(next.Checkouts) == 0 {
		out.Checkouts = r.Checkouts
	}
	out.Queue = r.Queue.followed(next.Queue, other)
	out.Skipped, out.Lost, out.Unlinked = r.Skipped, slices.Concat(r.Lost, next.Lost), slices.Concat(r.Unlinked, next.Unlinked)
	out.Unfiltered, out.Left = slices.Concat(r.Unfiltered, next.Unfiltered), slices.Concat(r.Left, next.Left)
	out.LeftOut = len(both.Conflicts)+len(both.Undoing)+len(out.Lost)+len(out.Unlinked)+len(out.Unfiltered) > 0
	out.Refused = len(out.Queue.Refusals()) > 0 || next.Refused && out.Queue != nil && out.Queue.BranchFails
	return &out
}

func kept[T any](all []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !keep(v) })
}

// followed is the report of a queue together with that of the next merge.
func (q *QueueReport) followed(next *QueueReport, other func(id string) bool) *QueueReport {
	if q == nil || next == nil {
		if next == nil {
			return q
		}
		return next
	}
	out := *next
	out.Rounds += q.Rounds
	out.Verifications = slices.Concat(q.Verifications, next.Verifications)
	out.Flaky = slices.Concat(q.Flaky, next.Flaky)
	out.Refused = slices.Concat(kept(q.Refused, func(r event.Refusal) bool { return other(string(r.Agent)) }), next.Refused)
	out.ScreenFails = q.ScreenFails || next.ScreenFails
	return &out
}

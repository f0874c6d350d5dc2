package lander

import (
	"agentswarm/merge"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// QueueReport is how a merge with a landing queue went, with all its rounds.
type QueueReport struct {
	Rounds        int // of verifications
	Verifications []landing.Verification
	Flaky         []landing.Verification // failed, and passed at another time
	Refused       []event.Refusal
	BranchFails   bool // the check fails on the tip itself
	ScreenFails   bool // the screen fails there

	// A merge that moves the branch each time that patches have passed.
	moves     int      // of the branch
	old, tip  git.Hash // of the branch, before the first and after the last
	landed    []merge.Landed
	checkouts []string // whose files followed
	over      bool     // the end is journaled
}

// add adds a round, which ended with an outcome.
func (q *QueueReport) add(out *queue.Outcome, gate *landing.Gate) {
	q.Rounds += out.Rounds
	q.Verifications = append(q.Verifications, gate.Verifications()...)
	q.BranchFails = len(out.BranchFails) > 0
	q.ScreenFails = out.ScreenFails
	for _, t := range out.Flaky {
		for _, v := range runsOf(gate, t.Set) {
			told := slices.ContainsFunc(q.Flaky, func(o landing.Verification) bool { return o.Output == v.Output })
			if !v.Passed && v.Run == t.Run && !told {
				q.Flaky = append(q.Flaky, v)
			}
		}
	}
}

// Refusals are the refused patches; none of a merge without a queue.
func (q *QueueReport) Refusals() []event.Refusal {
	if q == nil {
		return nil
	}
	return q.Refused
}

// notRefused leaves out the patches that the rounds before refused.
func (q *QueueReport) notRefused(chosen []*store.Agent) []*store.Agent {
	return slices.DeleteFunc(chosen, func(a *store.Agent) bool {
		return slices.ContainsFunc(q.Refusals(), func(r event.Refusal) bool { return r.Agent == a.ID })
	})
}

// runsOf returns the verdicts of the check on a set, the earliest first. Those of the
// screen are not among them.
func runsOf(gate *landing.Gate, set []string) []landing.Verification {
	var found []landing.Verification
	for _, v := range gate.Verifications() {
		if !v.Screen && slices.Equal(v.Set, set) {
			found = append(found, v)
		}
	}
	return found
}

// moved notes a move of the branch.
func (q *QueueReport) moved(part *Report) {
	if q.moves++; q.moves == 1 {
		q.old = part.Old
	}
	q.landed = append(q.landed, part.Outcome.Landed...)
	for _, dir := range part.Checkouts {
		if !slices.Contains(q.checkouts, dir) {
			q.checkouts = append(q.checkouts, dir)
		}
	}
	q.tip = part.Outcome.Commit
}

// isOver reports whether the merge is journaled to its end.
func (q *QueueReport) isOver() bool { return q != nil && q.over }

// HasMoved reports whether the merge moved the branch before its end.
func (q *QueueReport) HasMoved() bool { return q != nil && q.moves > 0 }

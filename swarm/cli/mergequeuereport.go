package cli

import (
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// queuedReport is how a merge with a landing queue went, with all its rounds.
type queuedReport struct {
	rounds        int // of verifications
	verifications []landing.Verification
	flaky         []landing.Verification // failed, and passed at another time
	refused       []event.Refusal
	branchFails   bool // the check fails on the tip itself
	screenFails   bool // the screen fails there

	// A merge that moves the branch each time that patches have passed.
	moves     int      // of the branch
	old, tip  git.Hash // of the branch, before the first and after the last
	landed    []merge.Landed
	checkouts []string // whose files followed
	over      bool     // the end is journaled
}

// add adds a round, which ended with an outcome.
func (q *queuedReport) add(out *queue.Outcome, gate *landing.Gate) {
	q.rounds += out.Rounds
	q.verifications = append(q.verifications, gate.Verifications()...)
	q.branchFails = len(out.BranchFails) > 0
	q.screenFails = out.ScreenFails
	for _, t := range out.Flaky {
		for _, v := range runsOf(gate, t.Set) {
			told := slices.ContainsFunc(q.flaky, func(o landing.Verification) bool { return o.Output == v.Output })
			if !v.Passed && v.Run == t.Run && !told {
				q.flaky = append(q.flaky, v)
			}
		}
	}
}

// refusals are the refused patches; none of a merge without a queue.
func (q *queuedReport) refusals() []event.Refusal {
	if q == nil {
		return nil
	}
	return q.refused
}

// notRefused leaves out the patches that the rounds before refused.
func (q *queuedReport) notRefused(chosen []*store.Agent) []*store.Agent {
	return slices.DeleteFunc(chosen, func(a *store.Agent) bool {
		return slices.ContainsFunc(q.refusals(), func(r event.Refusal) bool { return r.Agent == a.ID })
	})
}

// runsOf returns the verdicts of the check on a set, the first one first. Those of the
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

package store

import (
	"slices"

	"agentswarm/swarm/event"
)

// Refusal says why the check of a merge left the patch of an agent out.
type Refusal struct {
	event.Refusal
	Ref string // the branch
}

// VerdictsOn returns the runs of a command on a tree that a new landing may rely
// on, the oldest first. Those that passed count for good. Those that failed count
// until the landing that made them has ended: whoever merges again wants another
// try.
func (v *View) VerdictsOn(tree, command string) []*event.Verified {
	var found []*event.Verified
	for _, e := range v.Verdicts {
		if e.Tree == tree && e.Command == command {
			found = append(found, e)
		}
	}
	return found
}

// forgetFailures ends the use of failed verdicts, when a landing ends.
func (v *View) forgetFailures() {
	v.Verdicts = slices.DeleteFunc(v.Verdicts, func(e *event.Verified) bool { return !e.Passed })
}

// refuse notes the patches that a landing left out because of its check. A copy
// is no patch of its agent's.
func (v *View) refuse(ref string, all []event.Refusal) {
	for _, r := range all {
		if r.Copy == "" {
			v.about(r.Agent).Refusal = &Refusal{Refusal: r, Ref: ref}
		}
	}
}

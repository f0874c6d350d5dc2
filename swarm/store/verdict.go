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

// Verdict is a run of the check of a landing that a later landing may use.
type Verdict struct {
	*event.Verified
	// Earlier is set once the landing that ran the check has ended. Such a verdict
	// is never a failure.
	Earlier bool
}

// VerdictsOn returns the runs of a command on a tree that a new landing may use,
// the oldest first. A failure counts until its landing has ended, since a user who
// merges again wants another try. A pass counts as an earlier one after that. All
// verdicts of an interrupted landing count for the next landing as its own.
func (v *View) VerdictsOn(tree, command string) []Verdict {
	var found []Verdict
	for _, e := range v.Verdicts {
		if e.Tree == tree && e.Command == command {
			found = append(found, e)
		}
	}
	return found
}

// endVerdicts forgets failures and makes passes earlier ones, when a landing ends.
func (v *View) endVerdicts() {
	v.Verdicts = slices.DeleteFunc(v.Verdicts, func(e Verdict) bool { return !e.Passed })
	for i := range v.Verdicts {
		v.Verdicts[i].Earlier = true
	}
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

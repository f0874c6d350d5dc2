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
		a, refusal := v.about(r.Agent), &Refusal{Refusal: r, Ref: ref}
		if r.Copy == "" {
			a.Refusal = refusal
		} else if _, n, ok := CopyOf(r.Copy); ok {
			if a.CopyRefusals == nil {
				a.CopyRefusals = map[int]*Refusal{}
			}
			a.CopyRefusals[n] = refusal
		}
	}
}

// acquit ends the refusal of a patch, and those of patches that were left out only
// because they build on it. An empty ref stands for all branches.
func (v *View) acquit(a *Agent, ref string) {
	of := func(r *Refusal) bool { return r != nil && (ref == "" || r.Ref == ref) }
	if of(a.Refusal) {
		a.Refusal = nil
	}
	for _, other := range v.Agents {
		if of(other.Refusal) && slices.Contains(other.Refusal.Needs, a.ID) {
			v.acquit(other, ref)
		}
	}
}

// acquitCopies ends the refusals of copies that landed.
func (v *View) acquitCopies(names []string) {
	for _, name := range names {
		if id, n, ok := CopyOf(name); ok {
			delete(v.about(id).CopyRefusals, n)
		}
	}
}

package store

import (
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
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

// VerdictsOn returns the runs of a command on a tree that a new landing may
// use, the oldest first. A failure counts until its landing has ended, since a
// user who merges again wants another try. A pass counts as an earlier pass
// after that. All verdicts of an interrupted landing count for the next landing
// as its own. The check sees the tip of the branch, so a verdict counts only
// for its tip. A record of an older version has no tip and counts for all.
func (v *View) VerdictsOn(tree, command, tip string) []Verdict {
	var found []Verdict
	for _, e := range v.Verdicts {
		if e.Tree == tree && e.Command == command && (e.Tip == "" || e.Tip == tip) {
			found = append(found, e)
		}
	}
	return found
}

// Tried are the verdicts of a command for a tip that count as those of the next landing.
func (v *View) Tried(command, tip string) []Verdict {
	return slices.DeleteFunc(slices.Clone(v.Verdicts), func(e Verdict) bool {
		return e.Earlier || e.Screen || e.Command != command || e.Tip != tip
	})
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
		v.refused = v.refused || len(r.Needs) > 0
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
	if a.Refusal.on(ref) {
		a.Refusal = nil
	}
	if !v.refused {
		return
	}
	for _, other := range v.Agents {
		if other.Refusal.on(ref) && other.Refusal.without(a.ID) {
			v.acquit(other, ref)
		}
		for n, r := range other.CopyRefusals {
			if r.on(ref) && r.without(a.ID) {
				delete(other.CopyRefusals, n)
			}
		}
	}
}

// on reports whether the refusal is of a branch. An empty ref stands for all.
func (r *Refusal) on(ref string) bool { return r != nil && (ref == "" || r.Ref == ref) }

// without drops a patch that the refused patch builds on. It reports whether that was
// the last.
func (r *Refusal) without(id task.ID) bool {
	if !slices.Contains(r.Needs, id) {
		return false
	}
	r.Needs = slices.DeleteFunc(slices.Clone(r.Needs), func(other task.ID) bool { return other == id })
	return len(r.Needs) == 0
}

// acquitCopies ends the refusals of copies that landed on a branch. An empty ref stands
// for all branches.
func (v *View) acquitCopies(names []string, ref string) {
	for _, name := range names {
		if id, n, ok := CopyOf(name); ok && v.about(id).CopyRefusals[n].on(ref) {
			delete(v.about(id).CopyRefusals, n)
		}
	}
}

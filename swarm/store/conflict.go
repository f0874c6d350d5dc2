package store

import (
	"fmt"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Conflict is why a merge left the patch of an agent out.
type Conflict struct {
	event.Conflict
	Ref string // the branch
	Tip string // where that branch was when the patch did not fit
}

// conflicts notes the conflicts that a merge met.
func (v *View) conflicts(ref, tip string, all []event.Conflict) {
	for _, c := range all {
		v.about(c.Agent).Conflict = &Conflict{Conflict: c, Ref: ref, Tip: tip}
	}
}

// metBy notes the conflicts of a landing that happened, and ends those of the
// agents that landed.
func (v *View) metBy(e *event.Landed) {
	l := v.Landing(e.ID)
	if l == nil || !l.Stands() || l.Of != 0 {
		return
	}
	for _, id := range l.Agents {
		if l.partly(id) {
			continue
		}
		if a := v.about(id); a.Conflict != nil && (l.Ref == "" || a.Conflict.Ref == l.Ref) {
			l.ended = append(l.ended, endedConflict{agent: id, attempt: a.Attempt, conflict: a.Conflict})
			a.Conflict = nil
		}
		v.acquit(v.about(id), l.Ref)
	}
	v.acquitCopies(l.Copies, l.Ref)
	if l.Ref != "" {
		v.found(l.Ref, l.There)
		v.refuse(l.Ref, l.Refused)
		v.conflicts(l.Ref, l.New, l.Conflicts)
	}
}

// found notes agents whose changes a merge found on a branch. Their conflicts with
// it are over.
func (v *View) found(ref string, agents []task.ID) {
	for _, id := range agents {
		a := v.about(id)
		if !slices.Contains(a.Found, ref) {
			a.Found = append(a.Found, ref)
		}
		v.acquit(a, ref)
		if a.Conflict != nil && a.Conflict.Ref == ref {
			a.Conflict = nil
		}
	}
}

// Landed reports whether the changes of the agent are on a branch or in a tree,
// by any landing or by the user.
func (a *Agent) Landed() bool { return len(a.Landings) > 0 || len(a.Found) > 0 }

// endedConflict is a conflict that ended because the patch of an attempt landed.
type endedConflict struct {
	agent    task.ID
	attempt  int
	conflict *Conflict
}

// forgetMet removes the recorded conflicts on a branch that moved back: the
// changes that they met may be gone from it. Conflicts that the undone landings
// ended are open again.
func (v *View) forgetMet(id int) {
	l := v.Landing(id)
	if l == nil || l.Ref == "" {
		return
	}
	series := v.Series(l)
	for _, a := range v.Agents {
		// Where the branch is back at the tip of a conflict, the conflict stands.
		if a.Conflict != nil && a.Conflict.Ref == l.Ref && a.Conflict.Tip != series[0].Old {
			a.Conflict = nil
		}
		if a.Refusal.on(l.Ref) && a.Refusal.Kind == event.RefusedStale {
			a.Refusal = nil
		}
		a.Found = slices.DeleteFunc(a.Found, func(ref string) bool { return ref == l.Ref })
	}
	v.reopenConflicts(series)
}

// reopenConflicts restores the conflicts that undone landings of a merge ended.
func (v *View) reopenConflicts(series []*Landing) {
	for _, l := range series {
		for _, e := range l.ended {
			a := v.about(e.agent)
			// A conflict with an earlier landing of the same merge is gone with it.
			gone := slices.ContainsFunc(series, func(l *Landing) bool { return l.New == e.conflict.Tip })
			if !gone && a.Attempt == e.attempt && !a.Rejected() && !a.Landed() && a.Conflict == nil {
				a.Conflict = e.conflict
			}
		}
		l.ended = nil
	}
}

// InConflict are the agents whose patches a merge left out, in call order.
func (v *View) InConflict() []*Agent {
	var all []*Agent
	for _, a := range v.Agents {
		if a.Conflict != nil {
			all = append(all, a)
		}
	}
	return all
}

// AtCopy is the agent with the patch that a person left in copy n of its
// workspace, in place of its own.
func (a *Agent) AtCopy(n int, patch *task.Patch) *Agent {
	then := a.unjudged()
	then.Copy, then.Captured, then.Refusal = n, nil, a.CopyRefusals[n]
	if r := a.Result(); r != nil && len(a.Earlier) == 0 {
		then.Improved = r.Done().Patch
	}
	then.Status = &task.Failed{
		Kind: task.Other, Reason: fmt.Sprintf("this is %s as a person left it", (&Copy{Agent: a.ID, N: n}).Name()),
		Work: task.Work{Attempts: a.Attempt, Patch: patch},
	}
	return then
}

// AtModule is the agent where only its patch of a submodule is looked at.
func (a *Agent) AtModule(m *task.ModulePatch) *Agent {
	then := *a
	then.Module = m
	return &then
}

// Replace shows then in place of the agent as the records describe it.
func (v *View) Replace(then *Agent) {
	a := v.byID[then.ID]
	if a == nil {
		return
	}
	v.byID[then.ID] = then
	v.Agents[slices.Index(v.Agents, a)] = then
}

package handback

import (
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// refused is why a merge left a patch out.
type refused struct {
	agent task.ID
	kind  string // of the refusal; text for a conflict
	with  []task.ID
	// conflict is set for the kind text, and refusal for the others.
	conflict *merge.Conflict
	refusal  *event.Refusal
}

// leftOut are the patches of a report that can be handed back. It omits a conflict of
// submodules, which no workspace resolves. It omits a patch that only lacks another
// patch, which waits for that.
func leftOut(r *lander.Report) (all []refused) {
	if r == nil {
		return nil
	}
	for i := range r.Outcome.Conflicts {
		c := &r.Outcome.Conflicts[i]
		if len(c.Modules) == 0 {
			all = append(all, refused{agent: task.ID(c.ID), kind: string(queue.Text), with: taskIDs(c.With), conflict: c})
		}
	}
	for _, refusal := range r.Refusals() {
		switch refusal.Kind {
		case string(queue.Failed), string(queue.Interaction), event.RefusedUndoes:
			all = append(all, refused{agent: refusal.Agent, kind: refusal.Kind, with: refusal.On, refusal: &refusal})
		}
	}
	return all
}

// waiting are the patches that were left out because they need a refused patch.
func waiting(r *lander.Report) (ids []task.ID) {
	if r == nil {
		return nil
	}
	for _, refusal := range r.Refusals() {
		if refusal.Kind == string(queue.Dependency) {
			ids = append(ids, refusal.Agent)
		}
	}
	return ids
}

// receiver is who gets the patch of an agent next, as in [event.HandedBack]; empty: the
// person. A patch that undoes the other side after it was handed back goes to the person.
func receiver(a *store.Agent, kind string) string {
	if a.Copy > 0 || a.Call.Shared || task.Prompt(a.Call.Input) == "" {
		return ""
	}
	switch back := handedBack(a); {
	case back == nil:
		return event.ToAuthor
	case kind == event.RefusedUndoes && answered(a):
		return ""
	case back.To == event.ToAuthor:
		return event.ToNeutral
	default:
		return ""
	}
}

// handedBack is the latest wish for an attempt, if a merge made it; nil otherwise.
func handedBack(a *store.Agent) *event.HandedBack {
	if a.Retry == nil {
		return nil
	}
	return a.Retry.HandedBack
}

// answered reports whether the attempt that was asked for has left a patch.
func answered(a *store.Agent) bool { return a.Attempt > a.Retry.After && a.Patch() != nil }

// interrupted are the agents that a patch was handed back to and that were stopped before
// their end, for example since swarm was killed.
func interrupted(v *store.View, ref string) (all []*store.Agent) {
	for _, a := range v.Agents {
		back := handedBack(a)
		if back == nil || back.Ref != ref || a.Landed() {
			continue
		}
		if wasInterrupted(a) {
			all = append(all, a)
		}
	}
	return all
}

// wasInterrupted reports whether an attempt ended with its run, or with swarm.
func wasInterrupted(a *store.Agent) bool {
	switch r := a.Status.(type) {
	case *task.Cancelled:
		return !a.ByName() && r.Cause != task.CauseBudget
	case *task.Failed:
		return r.Kind == task.Lost
	default:
		return false
	}
}

// mergeable reports whether the result of an attempt may be merged by itself.
func mergeable(review string, a *store.Agent) bool {
	return a.Patch() != nil && canMerge(landing.Landable(review, a))
}

// first is the work that is handed back: the agent's present work, or its work before
// the first hand-back.
func first(a *store.Agent) *task.Patch {
	if back := handedBack(a); back != nil && back.Patch != nil {
		return back.Patch
	}
	return a.Patch()
}

func taskIDs(ids []string) []task.ID {
	out := make([]task.ID, len(ids))
	for i, id := range ids {
		out[i] = task.ID(id)
	}
	return out
}

// without returns the ids that are not among others.
func without(ids, others []task.ID) []task.ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id task.ID) bool { return slices.Contains(others, id) })
}

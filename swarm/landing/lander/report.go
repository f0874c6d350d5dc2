package lander

import (
	"fmt"
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Report is the outcome of a merge.
type Report struct {
	Run       string
	View      *store.View // as the merge saw it
	Ref       string      // of the branch
	Old, New  git.Hash    // of the branch
	Committer git.Person  // of the commits, without a time; [git.Swarm] if git knows no name
	Outcome   *merge.Outcome
	Checkouts []string // whose files followed
	Verified  *bool    // by the check; nil: none ran
	Output    string   // file with the output of the check
	command   string   // text of the check; empty: there is none
	// Queue is how the landing queue went; nil: the merge had none.
	Queue    *QueueReport
	Skipped  []*store.Agent // have a patch that only a name takes
	Lost     []*store.Agent // whose commits are gone from the repository
	Unlinked []landing.Unlinked
	// Unfiltered are patches on whose files a filter failed.
	Unfiltered []Unfiltered
	// Blocked is the error with which a merge would be refused now. Only a dry run has it.
	Blocked error
	DryRun  bool
	Left    []string // patches that this merge landed, and that are no longer on the branch
	Undoes  []string // patches that an undo takes back, if the merge moved the branch several times
	// Several is set if several landings are part of it; Undoes says which patches an undo
	// takes back.
	Several bool
	// Returned are the patches that were handed back, in this order.
	Returned []Returned
	// Attested is the note about the merge; nil: there is none.
	Attested *Attested
	// Stopped ended the merge after it had moved the branch.
	Stopped error
	// LeftOut is set if a patch was left out: it conflicts, it takes landed lines back, a
	// filter failed on it, it lacks a commit of a submodule, or its own commit is gone.
	LeftOut bool
	// Refused is set if the check refused a patch, the result, or the branch itself.
	Refused bool
}

// Returned is a patch that was handed back.
type Returned struct {
	Agent   task.ID
	Attempt int // that it was given
	event.HandedBack
	Landed bool // the result of that attempt is on the branch
}

// there are the agents whose own patches the branch has already. A copy is no
// patch of its agent's.
func (r *Report) there() []task.ID {
	var ids []task.ID
	for _, id := range r.Outcome.Empty {
		if a := r.View.Agent(task.ID(id)); a != nil && a.Copy == 0 {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// Moved reports whether the branch is at the merged commit now.
func (r *Report) Moved() bool {
	return len(r.Outcome.Landed) > 0 && !r.DryRun && (r.Verified == nil || *r.Verified)
}

// Unfounded names the patches that landed and were built on a patch that is not on the
// branch.
func (r *Report) Unfounded() []string {
	there := map[string]bool{} // agents whose work is on the branch
	for _, id := range r.Outcome.Empty {
		there[id] = true
	}
	for _, l := range r.Outcome.Landed {
		there[l.ID] = true
	}
	labelled := map[string]*store.Agent{}
	for _, a := range r.View.Agents {
		if labelled[a.Call.Label] == nil {
			labelled[a.Call.Label] = a
		}
		there[string(a.ID)] = there[string(a.ID)] || landing.LandedOn(r.View, a, r.Ref)
	}
	var found []string
	for _, l := range r.Outcome.Landed {
		a := r.View.Agent(task.ID(l.ID))
		for _, label := range a.Call.DependsOn {
			need := labelled[label]
			if need != nil && need.Patch() != nil && !there[string(need.ID)] {
				found = append(found, fmt.Sprintf("%s was built on %s",
					Names([]*store.Agent{a}), Names([]*store.Agent{need})))
			}
		}
	}
	return found
}

// Name names an agent with its title. An agent of which a copy is merged has the name of
// the copy.
func (r *Report) Name(id string) string {
	if a := r.View.Agent(task.ID(id)); a != nil {
		return Names([]*store.Agent{a})
	}
	return id
}

// IDs are the ids of patches, with the names of copies.
func (r *Report) IDs(set []string) []string {
	out := slices.Clone(set)
	for i, id := range set {
		if a := r.View.Agent(task.ID(id)); a != nil && a.Copy > 0 {
			out[i] = patch.CopyName(a.ID, a.Copy)
		}
	}
	return out
}

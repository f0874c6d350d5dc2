package lander

import (
	"slices"
	"time"

	"agentswarm/swarm/landing"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// MergeRequest says which patches of a run are merged, and onto which branch.
type MergeRequest struct {
	// Works are the agents that were named, each with the work to take; empty: all
	// that can be merged.
	Works  []*store.Agent
	Into   string       // a branch; empty: the branch checked out here
	Verify string       // text of the check; empty: there is none
	Queue  QueueOptions // with Verify
	DryRun bool         // report, and move nothing
	Style  landing.StyleRequest
	// Author is the author of the commits if Style names none.
	Author landing.Author
	// Resolved names the conflict that a person has resolved in the patch, such as
	// "text with a7"; empty: none.
	Resolved string
	// Continues is the landing that this merge goes on with, if the branch is where that
	// left it: an undo takes back both. 0: none.
	Continues int

	// queued is the outcome of the rounds before, whose refusals stand.
	queued *QueueReport
	// unfiltered are patches on whose files a filter failed in the rounds before.
	unfiltered []Unfiltered
}

// named are the agents of a request. The view shows each of them with the work
// that is to be taken.
func (r *MergeRequest) named(v *store.View) ([]task.ID, error) {
	var ids []task.ID
	for _, w := range r.Works {
		a := v.Agent(w.ID)
		switch {
		case slices.Contains(ids, w.ID) && a.Copy == w.Copy && a.Attempt == w.Attempt:
			continue
		case slices.Contains(ids, w.ID):
			return nil, refusal.New("two patches of %s are named, and each is all of its work: name one", w.ID)
		case a == nil:
			return nil, refusal.New("run %s has no agent %s", v.Identity.Run, w.ID)
		case w.Copy > 0:
			then := a.AtCopy(w.Copy, w.Patch())
			then.Partial = w.Partial
			v.Replace(then)
		default:
			v.Rewind(w.ID, w.Attempt)
		}
		ids = append(ids, w.ID)
	}
	return ids, nil
}

// The rules for which of two conflicting patches lands first.
const (
	OrderFewest = "fewest" // conflicts
	OrderPlan   = "plan"
)

// QueueOptions are how a merge finds the patches that pass its check. The zero
// value is a merge that lands all patches or none.
type QueueOptions struct {
	On    bool   // the landing queue is used
	Slots int    // how many checks run at the same time; 0: as many as the machine has room for
	Order string // [OrderFewest] or [OrderPlan]
	// AsTheyPass moves the branch after each set of patches that has passed.
	AsTheyPass bool
	// Screen is a quick check that sorts patches; empty: there is none.
	Screen string
	// Least and Setup are bounds as in [landing.Limits]; 0: the usual ones.
	Least, Setup time.Duration
}

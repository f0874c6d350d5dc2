package store

import (
	"slices"
	"time"

	"agentswarm/swarm/event"
)

func (v *View) lease(at time.Time, e *event.Leased) {
	if e.Shared {
		v.Shared = e
	}
	a := v.about(e.Agent)
	v.begin(a, at, e.Attempt)
	a.lease(at, e)
}

func (v *View) capture(n int64, e *event.Captured) {
	a := v.about(e.Agent)
	if e.Tip != "" {
		if e.Patch != nil && (a.Part == nil || a.Part.Commit != e.Patch.Commit) {
			a.PartBy = n
		}
		v.Tip, a.Part = e.Tip, e.Patch
	}
	a.capture(e)
}

func (v *View) release(e *event.Released) {
	if e.Shared {
		v.Shared = nil
		return
	}
	v.about(e.Agent).release(e)
}

// Within lists the attempts of an agent that are in the shared workspace,
// oldest first: at work, or because their changes could not be captured.
func (a *Agent) Within() []*event.Leased {
	var all []*event.Leased
	for _, l := range a.Leases {
		if l.Shared {
			all = append(all, l)
		}
	}
	return all
}

// InPartOrder reorders the items that worked in the shared workspace by their
// captures. Their patches build on each other in that order. These items share
// the places they had before; all others stay where they are. by returns the
// number of the record that captured an item, as [Agent.PartBy]; 0 for an item
// that was never in there.
func InPartOrder[T any](list []T, by func(T) int64) []T {
	var places []int
	var parts []T
	for i, one := range list {
		if by(one) != 0 {
			places, parts = append(places, i), append(parts, one)
		}
	}
	slices.SortStableFunc(parts, func(a, b T) int { return int(by(a) - by(b)) })
	sorted := slices.Clone(list)
	for i, place := range places {
		sorted[place] = parts[i]
	}
	return sorted
}

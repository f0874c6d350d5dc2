package store

import (
	"slices"
	"time"

	"agentswarm/swarm/event"
)

// EditVerdict is a person's verdict on edits, with its time.
type EditVerdict struct {
	*event.EditsReviewed
	Time time.Time
}

// EditRemark is a remark of a person on an edit.
type EditRemark struct {
	*event.Remarked
	// Sent is the attempt that the agent was told it for; 0: it is a draft.
	Sent int
}

// remarked adds a remark, or withdraws a draft. Of two remarks with the same
// ID, from two people at once, the later gets another ID.
func (a *Agent) remarked(e *event.Remarked) {
	at := slices.IndexFunc(a.OnEdits, func(r *EditRemark) bool { return r.ID == e.ID })
	switch {
	case e.Text != "":
		own := *e
		if at >= 0 {
			own.ID = a.NextRemark()
		}
		a.OnEdits = append(a.OnEdits, &EditRemark{Remarked: &own})
	case at >= 0 && a.OnEdits[at].Sent == 0:
		a.OnEdits = slices.Delete(slices.Clone(a.OnEdits), at, at+1)
	}
}

// NextRemark is an ID that no remark on the agent has.
func (a *Agent) NextRemark() int {
	last := 0
	for _, r := range a.OnEdits {
		last = max(last, r.ID)
	}
	return last + 1
}

// Drafts are the remarks on edits that the agent was not told.
func (a *Agent) Drafts() []*EditRemark {
	var all []*EditRemark
	for _, r := range a.OnEdits {
		if r.Sent == 0 {
			all = append(all, r)
		}
	}
	return all
}

// ReviewedBefore returns the capture of the latest attempt before the current
// attempt that a person gave a verdict or a remark on; nil where none holds a
// patch.
func (a *Agent) ReviewedBefore() *event.Captured {
	seen := map[int]bool{}
	for _, v := range a.Edits {
		seen[v.Attempt] = true
	}
	for _, r := range a.OnEdits {
		seen[r.Attempt] = true
	}
	for _, c := range slices.Backward(a.Earlier) {
		if seen[c.Attempt] && c.Attempt < a.Attempt {
			return c
		}
	}
	return nil
}

package engine

import (
	"context"
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// MovedOnError is a review of an attempt that is not the agent's latest, or has
// not ended: the reviewer has not seen the work that the review would count
// for.
type MovedOnError struct {
	Agent   task.ID
	Attempt int // the latest
}

func (e *MovedOnError) Error() string {
	return fmt.Sprintf("%s has moved on to attempt %d; look at that first", e.Agent, e.Attempt)
}

// ReviewRequest is a review by a person: verdicts on the work of agents and on
// single edits of it, and remarks on edits.
type ReviewRequest struct {
	Marks   []event.Reviewed
	Edits   []event.EditsReviewed
	Remarks []event.Remarked
}

// ReviewFact is a record of a review, with the attempt that was reviewed.
type ReviewFact struct {
	Agent   task.ID
	Attempt int
	Event   event.Event
}

// ReviewFacts are the records of a review, in the order in which they are journaled.
type ReviewFacts []ReviewFact

// Events are the records alone.
func (f ReviewFacts) Events() []event.Event {
	events := make([]event.Event, len(f))
	for i := range f {
		events[i] = f[i].Event
	}
	return events
}

// Facts are the records of the review.
func (r *ReviewRequest) Facts() ReviewFacts {
	facts := make(ReviewFacts, 0, len(r.Edits)+len(r.Marks)+len(r.Remarks))
	for i := range r.Edits {
		e := &r.Edits[i]
		facts = append(facts, ReviewFact{e.Agent, e.Attempt, e})
	}
	for i := range r.Marks {
		e := &r.Marks[i]
		facts = append(facts, ReviewFact{e.Agent, e.Attempt, e})
	}
	for i := range r.Remarks {
		e := &r.Remarks[i]
		facts = append(facts, ReviewFact{e.Agent, e.Attempt, e})
	}
	return facts
}

// Review notes a review. Either all is noted or nothing.
func (e *Engine) Review(r ReviewRequest) (err error) {
	ok := e.do(func(context.Context) {
		facts := r.Facts()
		for _, f := range facts {
			if err = e.reviewable(f.Agent, f.Attempt); err != nil {
				return
			}
		}
		if err = e.appendAll(facts.Events()); err != nil {
			return
		}
		for _, mark := range r.Marks {
			a := e.agents[mark.Agent]
			a.accepted = mark.Verdict == task.Accepted && a.result.Done().Patch != nil
		}
	})
	if !ok {
		return ErrClosed
	}
	return err
}

// reviewable says why an attempt of an agent cannot be reviewed; nil if it can.
func (e *Engine) reviewable(id task.ID, attempt int) error {
	a := e.agents[id]
	switch {
	case a == nil:
		return fmt.Errorf("no agent %s in this run", id)
	case a.result == nil, a.attempt != attempt:
		return &MovedOnError{Agent: a.id, Attempt: max(a.attempt, attempt+1)}
	}
	return nil
}

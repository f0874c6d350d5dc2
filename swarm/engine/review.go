package engine

import (
	"context"
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// MovedOnError is a review of an attempt that is not the agent's latest, or
// has not ended: nobody has seen the work it would count for.
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

// Review notes a review. Either all is noted or nothing.
func (e *Engine) Review(r ReviewRequest) (err error) {
	marks, edits := r.Marks, r.Edits
	ok := e.do(func(context.Context) {
		facts := make([]event.Event, 0, len(marks)+len(edits)+len(r.Remarks))
		for i := range edits {
			if err = e.reviewable(edits[i].Agent, edits[i].Attempt); err != nil {
				return
			}
			facts = append(facts, &edits[i])
		}
		for i := range marks {
			if err = e.reviewable(marks[i].Agent, marks[i].Attempt); err != nil {
				return
			}
			facts = append(facts, &marks[i])
		}
		for i := range r.Remarks {
			if err = e.reviewable(r.Remarks[i].Agent, r.Remarks[i].Attempt); err != nil {
				return
			}
			facts = append(facts, &r.Remarks[i])
		}
		if err = e.appendAll(facts); err != nil {
			return
		}
		for _, mark := range marks {
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

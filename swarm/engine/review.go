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

// Review notes what somebody thinks of what agents left. Either all is noted
// or nothing.
func (e *Engine) Review(marks []event.Reviewed) (err error) {
	ok := e.do(func(context.Context) {
		facts := make([]event.Event, len(marks))
		for i := range marks {
			a := e.agents[marks[i].Agent]
			switch {
			case a == nil:
				err = fmt.Errorf("no agent %s in this run", marks[i].Agent)
				return
			case a.result == nil, a.attempt != marks[i].Attempt:
				err = &MovedOnError{Agent: a.id, Attempt: max(a.attempt, marks[i].Attempt+1)}
				return
			}
			facts[i] = &marks[i]
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

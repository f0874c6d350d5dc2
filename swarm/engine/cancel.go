package engine

import (
	"context"
	"fmt"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Cancel ends agents by name: queued ones settle at once, running ones are
// stopped and captured. Agents that have ended stay as they are.
func (e *Engine) Cancel(ids []task.ID, h *Halt) (err error) {
	ok := e.do(func(context.Context) {
		for _, id := range ids {
			if e.agents[id] == nil {
				err = fmt.Errorf("no agent %s in this run", id)
				return
			}
		}
		err = e.append(&event.CancelAsked{Agents: ids, Cause: h.Cause, Reason: h.Reason})
		if err != nil {
			return
		}
		for _, id := range ids {
			e.cancelOne(e.agents[id], h)
		}
	})
	if !ok {
		return ErrClosed
	}
	return err
}

func (e *Engine) cancelOne(a *agentState, h *Halt) {
	switch {
	case a.result != nil:
	case a.cancel != nil:
		a.byName = true
		a.cancel(h)
	default:
		a.byName, a.blocked = true, false
		if a.wait != nil {
			a.wait.end()
			a.wait = nil
		}
		e.queue = slices.DeleteFunc(e.queue, func(id task.ID) bool { return id == a.id })
		e.quotas.parked = slices.DeleteFunc(e.quotas.parked, func(id task.ID) bool { return id == a.id })
		e.settle(a, &task.Cancelled{
			Cause: h.Cause, Reason: h.Reason, Work: a.left,
		})
	}
}

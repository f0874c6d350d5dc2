package engine

import (
	"context"
	"fmt"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// dispatch starts what may start. It runs on the loop.
func (e *Engine) dispatch(life context.Context) {
	for len(e.queue) > 0 && e.running < e.jobs && !e.ending {
		a := e.agents[e.queue[0]]
		e.queue = e.queue[1:]
		if e.started >= e.config.MaxAgents && a.owed == nil {
			e.settle(a, &task.Failed{
				Kind:   task.Refused,
				Reason: fmt.Sprintf("the run has started its %d agents (--max-agents)", e.config.MaxAgents),
				Work:   task.Work{Attempts: a.attempt},
			})
			continue
		}
		e.begin(life, a)
	}
}

// begin starts the next attempt of an agent, or what its last one is owed.
func (e *Engine) begin(life context.Context, a *agentState) {
	if a.owed == nil {
		a.attempt++
		e.started++
	}
	e.running++
	ctx, cancel := context.WithCancelCause(life)
	a.cancel = cancel
	try := &attempt{
		engine: e, id: a.id, n: a.attempt, call: a.call, began: e.deps.Now(),
		last: a.tries+1 >= startTries, owed: a.owed,
	}
	e.work.Go(func() {
		defer cancel(nil)
		end := try.run(ctx)
		e.do(func(life context.Context) {
			e.ended(life, a, end)
			if end.err == nil {
				// What is not on disk may not be acted upon.
				end.err = e.broken
			}
		})
		if err := try.release(ctx, end); err != nil {
			e.do(func(context.Context) { e.fail(err) })
		}
	})
}

// ended takes the end of an attempt: another try, or the agent's result.
func (e *Engine) ended(life context.Context, a *agentState, end ending) {
	e.running--
	a.cancel = nil
	switch {
	case end.err != nil:
		e.fail(end.err)
	case end.retry && !e.ending && !a.byName:
		e.later(life, a)
	default:
		e.settle(a, end.result)
	}
}

// later queues an agent again after a gap that grows with each try.
func (e *Engine) later(life context.Context, a *agentState) {
	a.tries++
	gap := time.NewTimer(time.Duration(a.tries) * startGap)
	e.work.Go(func() {
		defer gap.Stop()
		select {
		case <-gap.C:
		case <-life.Done():
		}
		e.do(func(context.Context) {
			if a.result == nil {
				e.queue = append(e.queue, a.id)
			}
		})
	})
}

// settle journals an agent's result and hands it on.
func (e *Engine) settle(a *agentState, r task.Result) {
	if e.append(&event.Settled{Agent: a.id, Attempt: a.attempt, Result: r}) != nil {
		return
	}
	a.result = r
	e.out = append(e.out, Settled{Agent: a.id, Result: r})
}

package engine

import (
	"context"
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// Pause starts nothing more: running agents work to their end and are captured,
// queued agents stay queued for a resume. An engine that is paused, stopped or
// over stays as it is.
func (e *Engine) Pause(reason string) (err error) {
	ok := e.do(func(context.Context) {
		if !e.over {
			err = e.pause(&event.Paused{Cause: task.CauseBudget, Reason: reason})
		}
	})
	if !ok {
		return ErrClosed
	}
	return err
}

// Paused is closed once the run is paused. [Engine.Halted] follows when the
// last agent at work has ended.
func (e *Engine) Paused() <-chan struct{} { return e.pausing }

// pause may be called from the loop only.
func (e *Engine) pause(why *event.Paused) error {
	if e.paused || e.ending {
		return nil
	}
	if err := e.append(why); err != nil {
		return err
	}
	e.paused = true
	close(e.pausing)
	for _, a := range e.agents {
		if a.wait != nil {
			a.wait.end() // its turn comes with a resume
		}
	}
	return nil
}

// still closes the channel of [Engine.Halted], once.
func (e *Engine) still() {
	if !e.halting {
		e.halting = true
		close(e.halted)
	}
}

// learn reports the end of an agent to the breaker. It skips a command that the
// user gave with the call: a command costs nothing, and a failure on each item
// may be the answer that the user wants.
func (e *Engine) learn(a *agentState, end ending) {
	if a.call.Agent == "" || a.names() {
		return
	}
	switch r := end.result.(type) {
	case *task.Completed:
		e.account.breaker.Passed()
	case *task.Failed:
		if end.quota != nil {
			return // the lane is closed, and other lanes go on
		}
		e.account.breaker.Failed(e.deps.Now(), limit.Failure{
			Agent: a.id, Kind: r.Kind, Reason: r.Reason, RetryAfter: end.retryAfter,
		})
	case *task.Cancelled: // that was not its own doing
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// breakOff pauses the run where whatever started now would only fail like
// those before it.
func (e *Engine) breakOff() {
	trip := e.account.breaker.Open()
	if trip == nil || len(e.queue) == 0 || e.ending {
		return
	}
	_ = e.pause(pausedBy(trip)) // a journal that fails has ended the run
}

func pausedBy(t *limit.Trip) *event.Paused {
	p := &event.Paused{Cause: t.Kind, Reason: t.Reason}
	if !t.Until.IsZero() {
		p.Until = &t.Until
	}
	return p
}

// takeStock follows every round of dispatching. It pauses a run that has too
// little budget left to continue, and reports a paused run that has come to
// rest.
func (e *Engine) takeStock() {
	short := e.account.short
	e.account.short = false
	switch {
	case e.paused && e.running == 0:
		e.still()
	case e.paused, e.ending, e.running > 0:
	case short && e.account.scripts:
		e.refuse()
	case e.giveUpQuota() != nil:
		if e.pause(pausedBy(e.giveUpQuota())) == nil {
			e.still()
		}
	case !short:
	default:
		if e.pause(&event.Paused{Cause: task.CauseBudget, Reason: e.spentText()}) == nil {
			e.still()
		}
	}
	e.pass()
	if left := e.account.Left(); left > 0 && !e.ending {
		e.account.alarm.Reset(left)
	} else {
		e.account.alarm.Stop()
	}
}

// refuse settles the queued calls of a script that the budget does not allow:
// the script decides how to continue.
func (e *Engine) refuse() {
	for len(e.queue) > 0 && !e.ending {
		a := e.agents[e.queue[0]]
		e.queue = e.queue[1:]
		s := e.settle(a, &task.Cancelled{Cause: task.CauseBudget, Reason: e.spentText(), Work: a.left})
		if s == nil {
			return
		}
		s.Refused = true
	}
}

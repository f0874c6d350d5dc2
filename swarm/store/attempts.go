package store

import (
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// lease adds a workspace. An attempt has a single workspace: a second record of
// it adds facts.
func (a *Agent) lease(at time.Time, e *event.Leased) {
	if e.Attempt == a.Attempt {
		a.Mounted = e.At
		a.moves(at)
	}
	for i, l := range a.Leases {
		if l.Attempt == e.Attempt {
			a.Leases[i] = e
			return
		}
	}
	a.Leases = append(a.Leases, e)
}

func (a *Agent) exit(at time.Time, e *event.Ended) {
	a.gone(func(s *event.Started) bool { return s.Attempt == e.Attempt })
	if e.Attempt == a.Attempt {
		a.Exit, a.Exited = e, at
		if e.Error != task.Lost { // else the process that found it does not know when it ended
			a.clock.stop(at) // a capture, a check or its end follows
		}
	}
}

// sent notes a message to the agent.
func (a *Agent) sent(e *event.Sent) {
	a.Sent = append(a.Sent, e)
	if !e.Auto {
		a.Words = append(a.Words, e.Text)
	}
}

func (a *Agent) capture(e *event.Captured) {
	if e.Attempt == a.Attempt {
		a.Captured = e
	}
}

func (a *Agent) check(e *event.Checked) {
	a.gone(func(s *event.Started) bool { return s.Attempt == e.Attempt && s.Step == "verify" })
	if e.Attempt == a.Attempt {
		a.Checked = e
	}
}

func (a *Agent) settle(r event.Record, e *event.Settled) {
	a.clock.stop(a.lastSign(r.Time, e))
	a.Status, a.Ended, a.Open, a.SettledBy, a.Held, a.Again = e.Result, r.Time, nil, r.N, "", nil
	a.Parked = ""
	a.results = append(a.results, e)
	done := e.Result.Done()
	a.pay(Paid{Attempt: e.Attempt, Model: done.Model, Usage: done.Usage})
	if task.Fell(e.Result) {
		a.Failures++
	}
}

// lastSign is when the work of an agent ended that is settled at a time. A recovery
// may settle it long after its owner died; the result has its last sign then.
func (a *Agent) lastSign(at time.Time, e *event.Settled) time.Time {
	end := e.Result.Done().Ended
	if a.Exit != nil && a.Exit.Error != task.Lost || end.IsZero() || end.After(at) {
		return at
	}
	return end
}

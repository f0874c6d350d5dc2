package store

import (
	"strings"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// stepVerify is the step of a check, as records name it.
const stepVerify = "verify"

// stopwatch sums up the time between start and stop. The zero value stands.
type stopwatch struct {
	total time.Duration
	since time.Time // zero while it stands
}

// upTo returns the sum, with the interval that is open at a time.
func (w *stopwatch) upTo(now time.Time) time.Duration {
	if w.since.IsZero() {
		return w.total
	}
	return w.total + max(0, now.Sub(w.since))
}

func (w *stopwatch) start(at time.Time) {
	w.stop(at)
	w.since = at
}

func (w *stopwatch) stop(at time.Time) {
	w.total, w.since = w.upTo(at), time.Time{}
}

// Times says how long an agent was in groups of its states, over all of its
// attempts, while an owner had the run open.
type Times struct {
	Worked  time.Duration // its setup or its own process ran
	Checked time.Duration // its check ran
	// Waited is for a slot, for a quota window, for a check, for an answer, or for another try after a
	// failure. The time before its first attempt does not count.
	Waited time.Duration
}

// clock says how long an agent was in each of its states.
type clock struct {
	times map[task.State]time.Duration
	state task.State
	since time.Time // zero while it stands
	tried bool      // its first attempt has begun
}

// enter ends the time of the current state and starts that of the next.
func (c *clock) enter(s task.State, at time.Time) {
	c.stop(at)
	c.state, c.since = s, at
	c.tried = c.tried || s != task.Queued
}

// stop ends the time of the current state.
func (c *clock) stop(at time.Time) {
	if spent := c.current(at); spent > 0 {
		if c.times == nil {
			c.times = map[task.State]time.Duration{}
		}
		c.times[c.state] += spent
	}
	c.since = time.Time{}
}

// current is the time in the current state that counts, up to a time.
func (c *clock) current(at time.Time) time.Duration {
	if c.since.IsZero() || c.state == task.Queued && !c.tried {
		return 0
	}
	return max(0, at.Sub(c.since))
}

// enter puts the agent into a state.
func (a *Agent) enter(s task.State, at time.Time) {
	a.clock.enter(s, at)
	a.Status = &task.Running{State: s, Attempt: a.Attempt, Since: at}
}

// Times says how long the agent has worked, and how long it has waited, up to a
// time. For a run that is over, that time is its end: see [View.Until].
func (a *Agent) Times(now time.Time) Times {
	spent := func(states ...task.State) (sum time.Duration) {
		for _, s := range states {
			sum += a.clock.times[s]
			if s == a.clock.state {
				sum += a.clock.current(now)
			}
		}
		return sum
	}
	return Times{
		Worked:  spent(task.Working),
		Checked: spent(task.Checking),
		Waited:  spent(task.Queued, task.WaitingSlot, task.WaitingQuota, task.WaitingCheck, task.Waiting),
	}
}

// rest stops all clocks: the owner of the run is gone since then.
func (v *View) rest(at time.Time) {
	v.took.stop(at)
	for _, a := range v.Agents {
		a.clock.stop(at)
	}
}

// closedAt is until when the owner of a run was there that is closed at a time. A
// recovery closes a run whose owner died: that was there until the last sign of its
// agents, or until its last record.
func (v *View) closedAt(at, last time.Time) time.Time {
	switch {
	case !v.sign.IsZero():
		return v.sign
	case v.Reason == ReasonDied:
		return last
	}
	return at
}

// noteSign follows the last sign of agents that a recovery settles. Only an owner that
// lives writes other records than a recovery.
func (v *View) noteSign(r event.Record) {
	switch e := r.Event.(type) {
	case *event.Settled:
		if sign := v.about(e.Agent).lastSign(r.Time, e); sign.Before(r.Time) && sign.After(v.sign) {
			v.sign = sign
		}
		return
	case *event.Captured, *event.Released, *event.Closed:
		return
	case *event.Ended:
		if e.Error == task.Lost {
			return
		}
	}
	v.sign = time.Time{}
}

// wind starts the clocks again under a new owner.
func (v *View) wind(at time.Time) {
	v.took.start(at)
	for _, a := range v.Agents {
		if s, ok := a.Status.(*task.Running); ok {
			a.clock.enter(s.State, at)
		}
	}
}

// StateText is where the agent is, for a person: its state with the reason of
// a wait, or how it ended.
func (a *Agent) StateText() string {
	text := task.Text(a.Status)
	if strings.HasPrefix(a.Held, text) {
		return a.Held
	}
	return text
}

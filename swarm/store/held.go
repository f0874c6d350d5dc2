package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// hold notes the reason for which an attempt waits.
func (a *Agent) hold(at time.Time, e *event.Held) {
	s, ok := a.Status.(*task.Running)
	if !ok || e.Attempt < a.Attempt {
		return
	}
	a.Held = e.Reason
	to := task.WaitingSlot
	if e.Step == stepVerify {
		to = task.WaitingCheck
	}
	if s.State != to {
		a.enter(to, at)
	}
}

// moves notes that the attempt waits for nothing any more.
func (a *Agent) moves(at time.Time) {
	if a.Held == "" {
		return
	}
	a.Held = ""
	if _, ok := a.Status.(*task.Running); ok {
		a.enter(task.Working, at)
	}
}

// Again is another try of an agent after a failure that may pass.
type Again struct {
	Kind   task.ErrorKind
	Reason string
	At     time.Time // when the try begins; zero where that is not known
}

// NextTry is another try of the agent, or a retry that it makes by itself; nil
// where there is none.
func (a *Agent) NextTry() *Again { return cmp.Or(a.Again, a.Retrying) }

func (a *Agent) queue(at time.Time) {
	a.Held, a.Again, a.Parked = "", nil, ""
	a.enter(task.Queued, at)
	a.Ended, a.SettledBy = time.Time{}, 0
}

// retried queues an agent that failed in a way that may pass.
func (a *Agent) retried(at time.Time, e *event.Retried) {
	a.queue(at)
	if e.Wait > 0 {
		a.Again = &Again{Kind: e.Error, Reason: e.Reason, At: at.Add(time.Duration(e.Wait) * time.Millisecond)}
	}
	if e.Waited {
		a.Waits++
	}
	if e.Usage != nil {
		a.pay(Paid{Attempt: e.Attempt, Model: e.Model, Usage: *e.Usage})
	}
}

// begin notes that an attempt is under way, if that is news. Patches that were
// left out because they build on the earlier attempt are tried again.
func (v *View) begin(a *Agent, at time.Time, attempt int) {
	if attempt <= a.Attempt {
		return
	}
	if a.Captured != nil && a.Captured.Patch != nil {
		a.Earlier = append(a.Earlier, a.Captured)
	}
	a.Again, a.Parked = nil, ""
	a.Attempt, a.Attempts = attempt, a.Attempts+1
	a.Exit, a.Captured, a.Checked, a.Continued = nil, nil, nil, nil
	a.Began, a.Exited = at, time.Time{}
	a.Review, a.Appraisal, a.Open, a.Entered, a.Round = nil, nil, nil, false, nil
	a.enter(task.Working, at)
	a.clock.stop(at) // no process of it runs yet
	a.Ended = time.Time{}
	a.SettledBy, a.Conflict, a.Found = 0, nil, nil
	v.acquit(a, "")
	if a.Started.IsZero() {
		a.Started = at
	}
}

// resume notes that an attempt continues an earlier conversation.
func (v *View) resume(at time.Time, e *event.Continued) {
	a := v.about(e.Agent)
	v.begin(a, at, e.Attempt)
	if e.Attempt == a.Attempt {
		a.Continued = e
	}
}

// At is the agent as an earlier attempt left it, with the patch of that; nil where
// that attempt left none. An attempt without a result of its own counts as failed.
func (a *Agent) At(attempt int) *Agent {
	for _, c := range a.Earlier {
		if c.Attempt != attempt {
			continue
		}
		then := a.unjudged()
		then.Attempt, then.Captured, then.Round = attempt, c, nil
		then.Status = &task.Failed{
			Kind: task.Other, Reason: fmt.Sprintf("attempt %d followed", attempt+1),
			Work: task.Work{Attempts: attempt, Patch: c.Patch, Notes: c.Notes},
		}
		for _, s := range a.results {
			if s.Attempt == attempt {
				then.Status = s.Result
			}
		}
		return then
	}
	return nil
}

// unjudged is a copy of the agent without the end, the checks and the landings of
// its latest attempt.
func (a *Agent) unjudged() *Agent {
	then := *a
	then.Exit, then.Checked, then.Review, then.Appraisal = nil, nil, nil, nil
	then.Landings, then.Conflict, then.Refusal, then.Found = nil, nil, nil, nil
	return &then
}

// Rewind shows an agent as an earlier attempt left it, as [Agent.At] does. It
// changes nothing where that is the latest, or left no patch.
func (v *View) Rewind(id task.ID, attempt int) {
	a := v.byID[id]
	if a == nil || attempt == a.Attempt {
		return
	}
	then := a.At(attempt)
	if then == nil {
		return
	}
	v.Replace(then)
}

// From is the work that the current attempt started with; nil: the base.
func (a *Agent) From() *task.Patch {
	switch {
	case a.Continued != nil:
		return a.Continued.From
	case a.Retry != nil && a.Attempt > a.Retry.After:
		return a.Retry.From
	default:
		return nil
	}
}

// Now is the call of an agent, with the model that its attempts use now.
func (a *Agent) Now() *task.Call {
	if a.Switched == nil {
		return a.Call
	}
	return a.Call.Using(&a.Switched.Choice)
}

func (a *Agent) release(e *event.Released) {
	a.Leases = slices.DeleteFunc(a.Leases, func(l *event.Leased) bool {
		return l.Attempt == e.Attempt
	})
}

func (a *Agent) gone(which func(*event.Started) bool) {
	a.Supervisors = slices.DeleteFunc(a.Supervisors, which)
}

package engine

import (
	"context"
	"time"

	"agentswarm/swarm/task"
)

// allowedTime bounds the time between a person's approval of a program and its
// start.
const allowedTime = 10 * time.Second

// allowed records the program calls that a person has just allowed. A hook asks
// about a call before the call begins, and the guard asks again about the same
// call. The loop owns the record.
type allowed map[allowedCall]time.Time

// allowedCall is a call of a program by an attempt.
type allowedCall struct {
	agent   task.ID
	attempt int
	call    string
}

func callOf(r *Ruling) allowedCall {
	return allowedCall{r.Request.Agent, r.Request.Attempt, r.Call}
}

// add records an allowed call. It skips the request of a guard, whose program
// has already begun.
func (a *allowed) add(r *Ruling, now time.Time) {
	if r.Call == "" || r.Request.Guard {
		return
	}
	if *a == nil {
		*a = allowed{}
	}
	for call, when := range *a {
		if now.Sub(when) > allowedTime {
			delete(*a, call)
		}
	}
	(*a)[callOf(r)] = now
}

// take takes back that a call was allowed, and reports whether it was.
func (a allowed) take(r *Ruling, now time.Time) bool {
	if r.Call == "" || !r.Request.Guard {
		return false
	}
	when, ok := a[callOf(r)]
	delete(a, callOf(r))
	return ok && now.Sub(when) <= allowedTime
}

// begins reports whether a guard asks about a call that a person has just
// allowed. It is true once per approval.
func (e *Engine) begins(r *Ruling) (ok bool) {
	e.do(func(context.Context) { ok = e.allowed.take(r, e.deps.Now()) })
	return ok
}

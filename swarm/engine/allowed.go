package engine

import (
	"context"
	"time"

	"agentswarm/swarm/task"
)

// allowedTime is how long a program may take to begin that a person has
// allowed an agent to run.
const allowedTime = 10 * time.Second

// allowed are the calls of programs that people have just allowed. An agent
// with a hook asks about one before it begins it, and its guard asks again:
// that is the same call, once. It belongs to the loop.
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

// add keeps that a call was allowed. What a guard was told is not kept: its
// program has begun.
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

// begins reports whether a guard asks about the beginning of what a person has
// just allowed. It is true once for each time they did.
func (e *Engine) begins(r *Ruling) (ok bool) {
	e.do(func(context.Context) { ok = e.allowed.take(r, e.deps.Now()) })
	return ok
}

package engine

import (
	"context"
	"fmt"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// using is the call of an agent with the model that its attempts use now.
func (a *agentState) using() *task.Call {
	if a.switched == nil {
		return a.call
	}
	return a.call.Using(&a.switched.Choice)
}

// enoughFailures is after how many tries that were not good enough the more
// thorough model takes over.
const enoughFailures = 2

// thorough switches an agent to the model for after a failed second try, if it
// has one and is there. What its last attempt is owed needs no model.
func (e *Engine) thorough(a *agentState) {
	slow := a.call.Slow
	if slow == nil || a.failures < enoughFailures || a.owed != nil || a.switched != nil && a.switched.Slow {
		return
	}
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt - 1, Choice: *slow, Slow: true,
		Reason: fmt.Sprintf("%d tries were not good enough: it goes on with %s", a.failures, modelName(slow)),
	}
	if a.switched != nil {
		s.Fallbacks = a.switched.Fallbacks
	}
	if e.append(s) == nil {
		a.switched = s
	}
}

// fallBack tries an agent again with the next model of its role, where the one
// it used cannot be had. It reports whether it did.
func (e *Engine) fallBack(life context.Context, a *agentState, end ending) bool {
	failed, ok := end.result.(*task.Failed)
	if !ok || e.ending || a.byName || !unavailable(failed.Kind) {
		return false
	}
	taken := 0
	if a.switched != nil {
		taken = a.switched.Fallbacks
	}
	if taken >= len(a.call.Fallbacks) {
		return false
	}
	next := a.call.Fallbacks[taken]
	used := a.using().Options
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt, Choice: next, Fallbacks: taken + 1, Slow: a.switched != nil && a.switched.Slow,
		Reason: fmt.Sprintf("%s could not be had (%s): it goes on with %s",
			modelName(&task.Choice{Model: used.Model, Effort: used.Effort}), failed.Kind, modelName(&next)),
	}
	// In this order: what the attempt used was the model's before.
	if e.appendAll([]event.Event{&event.Retried{
		Agent: a.id, Attempt: a.attempt, Error: failed.Kind, Reason: failed.Reason, Usage: &failed.Usage, Model: failed.Model,
	}, s}) != nil {
		return false
	}
	a.switched, a.spent, a.left = s, failed.Usage, failed.Work
	a.retried, a.refusals, a.waited = 0, 0, 0 // another provider may answer
	e.later(life, a, 0)
	return true
}

// unavailable reports whether a failure says that a model cannot be had, and
// nothing of what was asked of it. A name that a provider does not know is
// told as a request that is not valid.
func unavailable(kind task.ErrorKind) bool {
	switch kind {
	case task.Quota, task.Auth, task.Invalid, task.Overloaded, task.RateLimit:
		return true
	default:
		return false
	}
}

// modelName is a model as people write it.
func modelName(c *task.Choice) string {
	if c.Model == "" {
		return "its model"
	}
	return strings.TrimSuffix(c.Model+":"+c.Effort, ":")
}

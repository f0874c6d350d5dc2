package engine

import (
	"context"
	"fmt"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
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

// thorough switches an agent to its slow model after enough failed tries, if it
// has such a model. A missing check needs no model.
func (e *Engine) thorough(a *agentState) {
	slow := a.call.Slow
	if slow == nil || a.failures < enoughFailures || a.owed != nil || a.switched != nil && a.switched.Slow {
		return
	}
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt - 1, Choice: *slow, Slow: true,
		Reason: fmt.Sprintf("%d tries were not good enough: it continues with %s", a.failures, modelName(slow)),
	}
	if a.switched != nil {
		s.Fallbacks = a.switched.Fallbacks
	}
	if e.append(s) == nil {
		a.switched = s
	}
}

// alike switches a fork to the model that its parent's conversation ended with,
// if the parent changed its model and the fork names none. The first model
// would fail again, or read the whole conversation again.
func (e *Engine) alike(a *agentState) {
	in, ok := a.call.Input.(*task.ForkAgentInput)
	if !ok || a.owed != nil {
		return
	}
	parent := e.agents[in.Parent]
	if parent == nil || parent.switched == nil || a.call.Model != parent.call.Model {
		return
	}
	had, now := parent.switched.Choice, a.using().Options
	if a.call.Effort != parent.call.Effort {
		had.Effort = a.call.Effort // which it names
	}
	if had == (task.Choice{Model: now.Model, Effort: now.Effort}) {
		return
	}
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt - 1, Choice: had, Slow: parent.switched.Slow,
		Reason: fmt.Sprintf("it continues with %s, as %s did", modelName(&had), in.Parent),
	}
	if e.append(s) == nil {
		a.switched = s
	}
}

// fallBack retries an agent with the next model of its role if the current
// model is the cause of the failure. It reports whether it did.
func (e *Engine) fallBack(life context.Context, a *agentState, end ending) bool {
	failed, ok := end.result.(*task.Failed)
	if !ok || e.ending || a.byName || a.names() || !ofItsModel(failed) {
		return false
	}
	taken := 0
	if a.switched != nil {
		taken = a.switched.Fallbacks
	}
	if taken >= len(a.call.Fallbacks) {
		return false
	}
	return e.fallBackTo(life, a, failed, taken)
}

// fallBackTo tries an agent again with a model of its role, by its place there.
func (e *Engine) fallBackTo(life context.Context, a *agentState, failed *task.Failed, at int) bool {
	next := a.call.Fallbacks[at]
	used := a.using().Options
	s := &event.Switched{
		Agent: a.id, Attempt: a.attempt, Choice: next, Fallbacks: at + 1, Slow: a.switched != nil && a.switched.Slow,
		Reason: fmt.Sprintf("%s %s: it continues with %s",
			modelName(&task.Choice{Model: used.Model, Effort: used.Effort}), lacking(failed), modelName(&next)),
	}
	// In this order: the usage of the attempt belongs to the model before.
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

// ofItsModel reports whether a failure is caused by the model, so that another
// model may succeed: the model is not available, or gave no answer of the
// wanted form. A provider reports an unknown model as an invalid request; a
// request invalid for all models would fail with the next model too.
func ofItsModel(failed *task.Failed) bool {
	switch failed.Kind {
	case task.Quota, task.Auth, task.Overloaded, task.RateLimit, task.SchemaMismatch:
		return true
	case task.Invalid:
		return fault.OfModel(failed.Reason)
	default:
		return false
	}
}

// lacking describes the fault of a failed model.
func lacking(failed *task.Failed) string {
	if failed.Kind == task.SchemaMismatch {
		return "gave no answer of the form that was asked for"
	}
	return fmt.Sprintf("could not be had (%s)", failed.Kind)
}

// modelName is a model as people write it.
func modelName(c *task.Choice) string {
	if c.Model == "" {
		return "its model"
	}
	return strings.TrimSuffix(c.Model+":"+c.Effort, ":")
}

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// JoinRequest asks for a commit to start an agent from: patches merged onto a
// base.
type JoinRequest struct {
	Agent   task.ID
	Attempt int
	Base    git.Hash     // required
	Patches []task.Patch // in the order they are merged
	From    []task.ID    // whose they are
}

// Joiner merges patches in memory and keeps the result in the repository.
type Joiner interface {
	Join(context.Context, JoinRequest) (git.Hash, error)
}

// JoinError is a merge of the patches an agent depends on that conflicts.
type JoinError struct {
	Agent task.ID // whose patch did not fit
	With  []task.ID
	Paths []string
}

func (e *JoinError) Error() string {
	with := "the base"
	if len(e.With) > 0 {
		with = string(e.With[0])
	}
	return fmt.Sprintf("the patches of %s and %s conflict in %s",
		with, e.Agent, strings.Join(e.Paths, ", "))
}

// checkNeeds refuses calls that depend on a call which is not made before them.
func (e *Engine) checkNeeds(calls []*task.Call) error {
	named := map[string]bool{}
	for _, call := range calls {
		for _, label := range slices.Concat(call.DependsOn, call.After) {
			if e.labels[label] == nil && !named[label] {
				return fmt.Errorf("%q depends on %q, which no earlier call is named", call.Label, label)
			}
		}
		named[call.Label] = true
	}
	return nil
}

// enqueue queues an agent once all its dependencies have ended. It settles an
// agent whose dependencies did not go well.
func (e *Engine) enqueue(a *agentState) {
	if e.ready(a) {
		e.queue = append(e.queue, a.id)
	}
}

// ready reports whether an agent may start. Else it waits, or was settled.
func (e *Engine) ready(a *agentState) bool {
	if a.blocked = e.unsettled(a, map[*agentState]bool{}); a.blocked {
		return false
	}
	for _, label := range a.call.DependsOn {
		if why := unfit(e.labels[label]); why != "" {
			e.settle(a, &task.Cancelled{
				Cause: task.CauseDependency, Reason: fmt.Sprintf("%s, which it depends on, %s", label, why),
				Work: a.left,
			})
			return false
		}
	}
	return true
}

// unsettled reports whether something an agent builds on, also by others, has
// not ended: it may have been sent back since the others were built on it.
func (e *Engine) unsettled(a *agentState, seen map[*agentState]bool) bool {
	for _, label := range slices.Concat(a.call.DependsOn, a.call.After) {
		need := e.labels[label]
		if seen[need] {
			continue
		}
		seen[need] = true
		if need.result == nil || e.unsettled(need, seen) {
			return true
		}
	}
	return false
}

// unblock looks again at who waits, once an agent has settled.
func (e *Engine) unblock() {
	for _, id := range e.order {
		if a := e.agents[id]; a.blocked {
			e.enqueue(a)
		}
	}
}

// unfit says why nothing can be built on an agent's work; empty where it can.
func unfit(a *agentState) string {
	if a.accepted {
		return ""
	}
	switch r := a.result.(type) {
	case *task.Completed:
		switch {
		case r.Verified != nil && !*r.Verified:
			return "did not pass its check"
		case r.Patch != nil && len(r.Patch.OutOfScope) > 0:
			return "changed files outside its paths"
		case r.Patch != nil && len(r.Patch.Replaced) > 0:
			return "put files in place of a submodule"
		}
		return ""
	case *task.Failed:
		return "failed"
	case *task.Cancelled:
		return "was cancelled"
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// foundation returns the patches that an agent starts from besides the base:
// those of all its dependencies, each after the patches it was built on.
func (e *Engine) foundation(a *agentState) (patches []task.Patch, from []task.ID) {
	var needs []*agentState
	seen := map[task.ID]bool{}
	var visit func(*agentState)
	visit = func(a *agentState) {
		for _, label := range slices.Concat(a.call.DependsOn, a.call.After) {
			need := e.labels[label]
			if seen[need.id] || need.result == nil || unfit(need) != "" {
				continue
			}
			seen[need.id] = true
			visit(need)
			if need.result.Done().Patch != nil {
				needs = append(needs, need)
			}
		}
	}
	visit(a)
	for _, need := range store.InPartOrder(needs, func(a *agentState) int64 { return a.part }) {
		patches, from = append(patches, *need.result.Done().Patch), append(from, need.id)
	}
	return patches, from
}

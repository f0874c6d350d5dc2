// Package selector owns the rules by which a person picks agents of a run
// without naming them: failed agents, verified agents, agents with a patch that
// has not landed, and agents that have not ended.
//
// It reads no command line and prints nothing.
package selector

import (
	"slices"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Selector picks agents of a run. Each field that is set narrows the choice.
// The zero value picks every agent.
type Selector struct {
	Failed   bool // the agent failed, or its check did
	Verified bool // the agent completed and its check passed
	Unlanded bool // the agent has a patch that stands on no branch or tree
	Running  bool // the agent has not ended: it works, waits or is queued
}

// Empty reports whether the selector narrows nothing.
func (s Selector) Empty() bool { return s == Selector{} }

// String is the selector as it is typed, such as "--failed --unlanded".
func (s Selector) String() string {
	var words []string
	for _, f := range []struct {
		set  bool
		word string
	}{{s.Failed, "--failed"}, {s.Verified, "--verified"}, {s.Unlanded, "--unlanded"}, {s.Running, "--running"}} {
		if f.set {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, " ")
}

// Matches reports whether the selector picks the agent.
func (s Selector) Matches(a *store.Agent) bool {
	return (!s.Failed || a.Failed()) && (!s.Verified || verified(a)) && (!s.Unlanded || unlanded(a)) &&
		(!s.Running || a.Result() == nil)
}

// Pick returns the agents that the selector picks, in their order. It does not
// change the list it is given.
func (s Selector) Pick(agents []*store.Agent) []*store.Agent {
	return slices.DeleteFunc(slices.Clone(agents), func(a *store.Agent) bool { return !s.Matches(a) })
}

func verified(a *store.Agent) bool {
	r, ok := a.Status.(*task.Completed)
	return ok && r.Verified != nil && *r.Verified
}

func unlanded(a *store.Agent) bool {
	r := a.Result()
	return r != nil && r.Done().Patch != nil && !a.Landed()
}

package engine

import (
	"context"
	"errors"

	"agentswarm/swarm/task"
)

// Halt is the reason why an agent, or the whole run, was ended from outside. It
// travels as the cause of a context.
type Halt struct {
	Cause  task.ErrorKind // CauseCancelled, CauseStopped, CauseBudget or CauseDependency
	Reason string
	// Abandoned is set where the run ends because its client has left.
	Abandoned bool
}

func (h *Halt) Error() string {
	if h.Reason == "" {
		return string(h.Cause)
	}
	return string(h.Cause) + ": " + h.Reason
}

// haltOf is the Halt behind a context that ended; a context that ended for
// another reason stops the run.
func haltOf(ctx context.Context) *Halt { return haltBy(context.Cause(ctx)) }

// haltBy is the Halt in the cause of such a context.
func haltBy(cause error) *Halt {
	var h *Halt
	if errors.As(cause, &h) {
		return h
	}
	return &Halt{Cause: task.CauseStopped, Reason: "the run was stopped"}
}

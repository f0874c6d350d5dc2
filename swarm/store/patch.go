package store

import "agentswarm/swarm/task"

// Patch returns the patch of an agent that has ended with a patch; nil for
// none.
func (a *Agent) Patch() *task.Patch {
	if r := a.Result(); r != nil {
		return r.Done().Patch
	}
	return nil
}

// Rejected reports whether a person rejected the work of the agent.
func (a *Agent) Rejected() bool { return a.Review != nil && a.Review.Verdict == task.Rejected }

// Failed reports whether the agent failed, or completed and its check failed: the
// repair of a run treats both alike.
func (a *Agent) Failed() bool {
	switch r := a.Status.(type) {
	case *task.Failed:
		return true
	case *task.Completed:
		return r.Verified != nil && !*r.Verified
	default:
		return false
	}
}

package copies

import (
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// Source is the work of an attempt that a copy is made of.
type Source struct {
	Attempt int
	Base    git.Hash
	Commit  git.Hash // empty: the attempt changed nothing
	// Resolve is set where a conflict is to be resolved in the copy.
	Resolve *Resolution
}

// UncapturedError says that there is no work of an agent to make a copy of.
type UncapturedError struct {
	Agent  task.ID
	Reason string
}

func (e *UncapturedError) Error() string {
	return fmt.Sprintf("%s has no workspace: %s", e.Agent, e.Reason)
}

// SourceOf is the captured work of the latest attempt of an agent. Without a capture the
// error is an [*UncapturedError].
func SourceOf(run *store.Run, a *store.Agent) (Source, error) {
	if a.Captured == nil {
		why := "it never began"
		if a.Attempt > 0 {
			why = "what it left was not captured"
		}
		return Source{}, &UncapturedError{Agent: a.ID, Reason: why}
	}
	out := Source{Attempt: a.Attempt, Base: git.Hash(a.Call.Base)}
	if p := a.Captured.Patch; p != nil {
		out.Base, out.Commit = git.Hash(p.Base), git.Hash(p.Commit)
		return out, nil
	}
	// Its base may have been made of the patches it depends on.
	records, err := run.Records()
	if err != nil {
		return out, err
	}
	for _, r := range records {
		if l, ok := r.Event.(*event.Leased); ok && l.Agent == a.ID && l.Attempt == a.Attempt {
			out.Base = git.Hash(l.Base)
		}
	}
	return out, nil
}

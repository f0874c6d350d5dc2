package cli

import (
	"fmt"

	"agentswarm/swarm/event"
	"agentswarm/worktree/git"
)

// leftover is what an attempt left.
type leftover struct {
	attempt int
	base    git.Hash
	commit  git.Hash // empty: it changed nothing
	// resolve is set where a conflict is to be resolved there.
	resolve *resolveRecord
}

// left is what the latest attempt left that was captured.
func (v *visit) left() (leftover, error) {
	a := v.agent
	if a.Captured == nil {
		why := "it never began"
		if a.Attempt > 0 {
			why = "what it left was not captured"
		}
		return leftover{}, &UsageError{
			Text:   fmt.Sprintf("%s: %s has no workspace: %s", v.verb, a.ID, why),
			Advice: fmt.Sprintf("see `%s show %s`", v.env.Calls, v.address()),
		}
	}
	out := leftover{attempt: a.Attempt, base: git.Hash(a.Call.Base)}
	if p := a.Captured.Patch; p != nil {
		out.base, out.commit = git.Hash(p.Base), git.Hash(p.Commit)
		return out, nil
	}
	// Its base may have been made of the patches it depends on.
	records, err := v.run.Records()
	if err != nil {
		return out, err
	}
	for _, r := range records {
		if l, ok := r.Event.(*event.Leased); ok && l.Agent == a.ID && l.Attempt == a.Attempt {
			out.base = git.Hash(l.Base)
		}
	}
	return out, nil
}

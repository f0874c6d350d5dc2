package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// conflictText says with whom, where and in which files a patch is in
// conflict; empty for none.
func conflictText(v *store.View, a *store.Agent) string {
	c := a.Conflict
	if c == nil {
		return ""
	}
	with := "the branch itself"
	if len(c.With) > 0 {
		var names []string
		for _, id := range c.With {
			name := string(id)
			if other := v.Agent(id); other != nil {
				name = labels([]*store.Agent{other})
			}
			names = append(names, name)
		}
		with = strings.Join(names, ", ")
	}
	return fmt.Sprintf("conflict with %s on %s: %s", with, branchName(c.Ref), listed(c.Paths, 5))
}

// conflictWays are the commands that lead out of the conflict of an agent.
func conflictWays(calls string, v *store.View, a *store.Agent) []string {
	return waysOut(calls, waysOf{run: v.Identity.Run, agent: a, ref: a.Conflict.Ref})
}

// waysOf says of which conflict the ways out are asked.
type waysOf struct {
	run   string
	agent *store.Agent
	ref   string // the branch
}

// resolvingWays is waysOut as a sentence has them.
func resolvingWays(calls string, w waysOf) string { return strings.Join(waysOut(calls, w), orWay) }

// orWay stands between two commands of which one is enough.
const orWay = ", or "

// waysOut are the commands that lead out of a conflict: by hand, or by the agent
// itself.
func waysOut(calls string, w waysOf) []string {
	at, branch := w.run+"/"+string(w.agent.ID), branchName(w.ref)
	byHand := at
	if w.agent.Copy > 0 {
		byHand = w.run + "/" + copyName(w.agent.ID, w.agent.Copy)
	}
	ways := []string{fmt.Sprintf("%s merge --resolve %s", calls, byHand)}
	if w.agent.Copy == 0 && !w.agent.Call.Shared {
		ways = append(ways, fmt.Sprintf("%s retry %s --onto %s", calls, at, branch))
	}
	return ways
}

// misfitError says that a patch does not fit the files of a checkout.
type misfitError struct {
	agent *store.Agent
	ways  string
	err   *git.PatchError
}

func (e *misfitError) Error() string {
	return fmt.Sprintf("the patch of %s does not fit the files here: %s changed since its base", e.agent.ID, listed(e.err.Paths, 5))
}

func (e *misfitError) Unwrap() error { return e.err }

// Hint says what would be right.
func (e *misfitError) Hint() string { return "merge it with its conflict, or send it back: " + e.ways }

// ExitCode is that of a conflict.
func (e *misfitError) ExitCode() int { return int(CodeConflict) }

// misfit is the error of a patch that does not fit, in words and with the ways
// out; any other error is as it was.
func (p *place) misfit(ctx context.Context, s *selection, a *store.Agent, err error) error {
	var unfit *git.PatchError
	if !errors.As(err, &unfit) {
		return err
	}
	branch, lookErr := p.repo.Branch(ctx)
	if lookErr != nil || branch == "" {
		return err
	}
	return &misfitError{agent: a, err: unfit, ways: resolvingWays(p.env.Calls, waysOf{run: s.run.ID, agent: a, ref: branch})}
}

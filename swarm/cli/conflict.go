package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
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
				name = lander.Names([]*store.Agent{other})
			}
			names = append(names, name)
		}
		with = strings.Join(names, ", ")
	}
	return fmt.Sprintf("conflict with %s on %s: %s", with, lander.BranchName(c.Ref), termtext.List(c.Paths, 5))
}

// conflictAt is a conflict of the patch of an agent with a branch.
type conflictAt struct {
	run   string
	agent *store.Agent
	ref   string // the branch
	// modules is set where submodules are in conflict, which no workspace resolves.
	modules bool
}

// orWay stands between commands when either is enough.
const orWay = ", or "

// ways are the commands that resolve the conflict: by hand, or by the agent
// itself.
func (at conflictAt) ways(calls string) []string {
	ways := []string{fmt.Sprintf("%s merge --resolve %s", calls, patch.Address(at.run, at.agent))}
	if at.modules {
		ways[0] = "merge the two commits in your own checkout of the submodule"
	}
	if at.agent.Copy == 0 && !at.agent.Call.Shared {
		ways = append(ways, fmt.Sprintf("%s retry %s/%s --onto %s", calls, at.run, at.agent.ID, lander.BranchName(at.ref)))
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
	return fmt.Sprintf("the patch of %s does not fit the files here: %s changed since its base", e.agent.ID, termtext.List(e.err.Paths, 5))
}

func (e *misfitError) Unwrap() error { return e.err }

// Hint names the commands that help.
func (e *misfitError) Hint() string { return "merge it with its conflict, or send it back: " + e.ways }

// ExitCode is that of a conflict.
func (e *misfitError) ExitCode() int { return int(exit.Conflict) }

// misfit is the error of a patch that does not fit, in words and with the ways
// out; any other error is as it was.
func (p *place) misfit(ctx context.Context, s *selection.Selection, a *store.Agent, err error) error {
	var unfit *git.PatchError
	if !errors.As(err, &unfit) {
		return err
	}
	branch, lookErr := p.Repo.Branch(ctx)
	if lookErr != nil || branch == "" {
		return err
	}
	at := conflictAt{run: s.Run.ID, agent: a, ref: branch}
	return &misfitError{agent: a, err: unfit, ways: strings.Join(at.ways(p.Env.Calls), orWay)}
}

// moduleConflictError says that a workspace cannot resolve a conflict, since
// submodules are in it.
type moduleConflictError struct {
	agent   *store.Agent
	branch  string
	modules []merge.ModuleConflict
	ways    string
}

func (e *moduleConflictError) Error() string {
	texts := make([]string, len(e.modules))
	for i, m := range e.modules {
		texts[i] = m.Between(e.branch, string(e.agent.ID))
	}
	return "merge: a workspace cannot resolve the conflict of a submodule: " + strings.Join(texts, "; ")
}

// Hint names the ways out.
func (e *moduleConflictError) Hint() string { return e.ways }

// ExitCode is that of a conflict.
func (e *moduleConflictError) ExitCode() int { return int(exit.Conflict) }

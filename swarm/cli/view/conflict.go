package view

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// ConflictText returns the other side and the files of a patch's conflict, or an empty text.
func ConflictText(v *store.View, a *store.Agent) string {
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

// ConflictAt is a conflict of the patch of an agent with a branch.
type ConflictAt struct {
	Run   string
	Agent *store.Agent
	Ref   string // the branch
	// Modules is set where submodules are in conflict, which no workspace resolves.
	Modules bool
	// Open is set where a workspace is open in which the conflict is resolved.
	Open bool
}

// OrWay separates two commands of which either is enough.
const OrWay = ", or "

// Ways returns the commands that resolve the conflict: by hand, or by the agent. A
// resolution that is open is continued or given up.
func (at ConflictAt) Ways(calls string) []string {
	if at.Open {
		name := fmt.Sprintf("%s/%s", at.Run, at.Agent.ID)
		return []string{calls + " merge --continue " + name, calls + " merge --abort " + name}
	}
	ways := []string{fmt.Sprintf("%s merge --resolve %s", calls, patch.Address(at.Run, at.Agent))}
	if at.Modules {
		ways[0] = "merge the two commits in your own checkout of the submodule"
	}
	if at.Agent.Copy == 0 && !at.Agent.Call.Shared {
		ways = append(ways, fmt.Sprintf("%s retry %s/%s --onto %s", calls, at.Run, at.Agent.ID, lander.BranchName(at.Ref)))
	}
	return ways
}

// undoingWays are the commands for a patch that takes landed lines back.
func (at ConflictAt) undoingWays(calls string) []string {
	name := patch.Address(at.Run, at.Agent)
	ways := []string{fmt.Sprintf("look at %s diff %s and %s accept %s", calls, name, calls, name)}
	if !at.Agent.Call.Shared {
		ways = append(ways, fmt.Sprintf("%s retry %s --onto %s", calls, name, lander.BranchName(at.Ref)))
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

// Misfit returns the error of a patch that does not fit, with the commands that resolve it. It
// returns any other error unchanged.
func Misfit(ctx context.Context, p *cmdline.Place, s *selection.Selection, a *store.Agent, err error) error {
	var unfit *git.PatchError
	if !errors.As(err, &unfit) {
		return err
	}
	branch, lookErr := p.Repo.Branch(ctx)
	if lookErr != nil || branch == "" {
		return err
	}
	at := ConflictAt{Run: s.Run.ID, Agent: a, Ref: branch}
	return &misfitError{agent: a, err: unfit, ways: strings.Join(at.Ways(p.Env.Calls), OrWay)}
}

// ModuleConflictError is a conflict in submodules, which a workspace cannot resolve.
type ModuleConflictError struct {
	Agent   *store.Agent
	Branch  string
	Modules []merge.ModuleConflict
	Ways    string
}

func (e *ModuleConflictError) Error() string {
	texts := make([]string, len(e.Modules))
	for i, m := range e.Modules {
		texts[i] = m.Between(e.Branch, string(e.Agent.ID))
	}
	return "merge: a workspace cannot resolve the conflict of a submodule: " + strings.Join(texts, "; ")
}

// Hint names the ways out.
func (e *ModuleConflictError) Hint() string { return e.Ways }

// ExitCode is that of a conflict.
func (e *ModuleConflictError) ExitCode() int { return int(exit.Conflict) }

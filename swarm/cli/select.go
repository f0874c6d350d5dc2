package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/selector"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// selection is a run and those of its agents that were named; none named
// means all.
type selection struct {
	run   *store.Run
	view  *store.View
	named []*store.Agent
	// chosen is the selector that picked the named agents, if any; it may pick none.
	chosen selector.Selector
	// addressed counts the addresses that were given.
	addressed int
	// earlier is set where an earlier attempt or a copy is named.
	earlier bool
	// latest is set where an address names no run, so that the latest is taken.
	latest bool
}

// openSelection opens the place of a command whose arguments, from least to
// most of them, are addresses, and resolves them.
func openSelection(c *cli.Context, env cmdline.Env, least, most int) (*place, *selection, error) {
	by := readSelector(c)
	if !by.Empty() {
		least = 0 // a selector names agents, too
	}
	addresses, err := addressArguments(c, env, least, most)
	if err != nil {
		return nil, nil, err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return nil, nil, err
	}
	take := p.selectRun
	if slices.Contains([]string{"diff", "show", "merge", "apply"}, c.Command.Name) {
		take = p.selectAttempts
	}
	s, err := take(c.Context, addresses)
	if err == nil && !slices.Contains([]string{"diff", "show"}, c.Command.Name) {
		err = s.refuseModules(c.Command.Name)
	}
	if err == nil && !by.Empty() {
		s.named, s.chosen = by.Pick(s.agents()), by
	}
	return p, s, err
}

// selectRun is selectAttempts where only the latest attempt of an agent will do.
func (p *place) selectRun(ctx context.Context, addresses []string) (*selection, error) {
	s, err := p.selectAttempts(ctx, addresses)
	if err == nil && s.earlier {
		return nil, exit.Usagef("an earlier attempt or a copy is named; only diff, show, merge and apply take one")
	}
	return s, err
}

// selectAttempts resolves addresses, which must all be of one run. No address is
// the latest run. A run whose owner died is put in order first.
func (p *place) selectAttempts(ctx context.Context, addresses []string) (*selection, error) {
	if err := cmdline.NoneEmpty(addresses); err != nil {
		return nil, err
	}
	s := &selection{addressed: len(addresses)}
	if len(addresses) == 0 {
		addresses = []string{""}
	}
	var named []patch.Work
	for _, text := range addresses {
		a, which, err := patch.ResolveModule(p.State, text)
		if err != nil {
			return nil, cmdline.Refused(err)
		}
		if s.run != nil && s.run.ID != a.Run.ID {
			return nil, exit.Usagef("%s is of run %s and %q of run %s: name agents of one run at a time",
				addresses[0], s.run.ID, text, a.Run.ID)
		}
		s.run = a.Run
		s.latest = s.latest || text == "" || a.Agent != "" && !strings.Contains(strings.TrimSuffix(text, "/"+which.Module), "/")
		if a.Agent != "" {
			which.Agent = a.Agent
			named = append(named, which)
		}
	}
	var err error
	if s.view, err = p.settle(ctx, s.run); err != nil {
		return nil, err
	}
	for _, w := range named {
		agent := s.view.Agent(w.Agent)
		if agent == nil {
			return nil, exit.Usagef("run %s has no agent %s", s.run.ID, w.Agent)
		}
		then, err := p.patches().At(ctx, s.run, agent, w)
		if err != nil {
			return nil, err
		}
		s.earlier = s.earlier || then != agent
		if then, err = w.InModule(then); err != nil {
			return nil, err
		}
		s.named = append(s.named, then)
	}
	return s, nil
}

// agents are the named ones, else all of the run.
func (s *selection) agents() []*store.Agent {
	if len(s.named) > 0 || !s.chosen.Empty() {
		return s.named
	}
	return s.view.Agents
}

// one is the agent a command about a single agent means: the one named, or
// the only one there is.
func (s *selection) one(verb string) (*store.Agent, error) {
	agents := s.agents()
	if len(s.named) == 0 {
		agents = landing.Workers(s.view)
	}
	if len(agents) == 1 {
		return agents[0], nil
	}
	if len(s.view.Agents) == 0 {
		return nil, exit.Usagef("%s: run %s has no agents; `%s status %s` tells of the run", verb, s.run.ID, cmdline.Program, s.run.ID)
	}
	return nil, exit.Usagef("%s: run %s has %s; name one, such as %s/%s",
		verb, s.run.ID, termtext.Count(len(s.view.Agents), "agent", "agents"), s.run.ID, "a1")
}

// own takes a run for a command that changes its record.
func (p *place) own(ctx context.Context, run *store.Run) (*store.Owner, error) {
	if err := p.Personal("changing a run"); err != nil {
		return nil, err
	}
	owner, err := run.Own(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return nil, p.inUse(run)
	}
	return owner, err
}

// inUse refuses a command because another process owns the run: the process that
// runs its agents or, when all of them have ended, a command such as a merge.
func (p *place) inUse(run *store.Run) error {
	refused := &exit.UsageError{
		Text:   fmt.Sprintf("run %s is still running", run.ID),
		Advice: fmt.Sprintf("wait for it with `%s wait %s`", p.Env.Calls, run.ID),
	}
	if v, err := run.View(); err == nil && v.Status != store.RunRunning {
		refused.Text = fmt.Sprintf("another command of run %s is running", run.ID)
		refused.Advice = "try again when it has ended"
	}
	return refused
}

// reviewOf is the mode in which the patches of a run are reviewed. Where its
// configuration cannot be read that is told by whatever goes by it.
func reviewOf(v *store.View) string {
	config, _ := engineConfig(v)
	return config.Review
}

// patchOf is the patch of an agent that ended with one; nil for none.
func patchOf(a *store.Agent) *task.Patch { return a.Patch() }

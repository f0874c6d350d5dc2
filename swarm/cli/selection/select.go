package selection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/selector"
	"agentswarm/swarm/store"
)

// Selection is a run and the agents of it that a command line names. No named agent means all.
type Selection struct {
	Run   *store.Run
	View  *store.View
	Named []*store.Agent
	// Chosen is the selector that picked the named agents, if any; it may pick none.
	Chosen selector.Selector
	// addressed counts the addresses that were given.
	addressed int
	// Earlier is set where an earlier attempt or a copy is named.
	Earlier bool
	// Latest is set where an address names no run, so that the latest is taken.
	Latest bool
}

// Open opens the repository of a command and resolves its addresses, from least to most in
// number. It returns a usage error for an address that names nothing, for agents of two
// runs, and for an earlier attempt where the command takes none.
func Open(c *cli.Context, env cmdline.Env, least, most int) (*cmdline.Place, *Selection, error) {
	by := ReadSelector(c)
	if !by.Empty() {
		least = 0 // a selector names agents, too
	}
	addresses, err := AddressArguments(c, env, least, most)
	if err != nil {
		return nil, nil, err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return nil, nil, err
	}
	take := Run
	if slices.Contains([]string{"diff", "show", "merge", "apply"}, c.Command.Name) {
		take = selectAttempts
	}
	s, err := take(c.Context, p, addresses)
	if err == nil && !slices.Contains([]string{"diff", "show"}, c.Command.Name) {
		err = s.refuseModules(c.Command.Name)
	}
	if err == nil && !by.Empty() {
		s.Named, s.Chosen = by.Pick(s.Agents()), by
	}
	return p, s, err
}

// Run resolves addresses of a run and its agents; without an address it takes
// the latest run. It returns a usage error for an earlier attempt, and those of
// Open.
func Run(ctx context.Context, p *cmdline.Place, addresses []string) (*Selection, error) {
	s, err := selectAttempts(ctx, p, addresses)
	if err == nil && s.Earlier {
		return nil, exit.Usagef("an earlier attempt or a copy is named; only diff, show, merge and apply take one")
	}
	return s, err
}

// selectAttempts resolves addresses, which must all belong to the same run. No
// address is the latest run. It puts a run whose owner died in order first.
func selectAttempts(ctx context.Context, p *cmdline.Place, addresses []string) (*Selection, error) {
	if err := cmdline.NoneEmpty(addresses); err != nil {
		return nil, err
	}
	s := &Selection{addressed: len(addresses)}
	if len(addresses) == 0 {
		addresses = []string{""}
	}
	var named []patch.Work
	for _, text := range addresses {
		a, which, err := patch.ResolveModule(p.State, text)
		if err != nil {
			return nil, cmdline.Refused(err)
		}
		if s.Run != nil && s.Run.ID != a.Run.ID {
			return nil, exit.Usagef("%s is of run %s and %q of run %s: name agents of one run at a time",
				addresses[0], s.Run.ID, text, a.Run.ID)
		}
		s.Run = a.Run
		s.Latest = s.Latest || text == "" || a.Agent != "" && !strings.Contains(strings.TrimSuffix(text, "/"+which.Module), "/")
		if a.Agent != "" {
			which.Agent = a.Agent
			named = append(named, which)
		}
	}
	var err error
	if s.View, err = session.View(ctx, p, s.Run); err != nil {
		return nil, err
	}
	for _, w := range named {
		agent := s.View.Agent(w.Agent)
		if agent == nil {
			return nil, exit.Usagef("run %s has no agent %s", s.Run.ID, w.Agent)
		}
		then, err := session.Patches(p).At(ctx, s.Run, agent, w)
		if err != nil {
			return nil, err
		}
		s.Earlier = s.Earlier || then != agent
		if then, err = w.InModule(then); err != nil {
			return nil, err
		}
		s.Named = append(s.Named, then)
	}
	return s, nil
}

// Agents returns the named agents, or all of the run.
func (s *Selection) Agents() []*store.Agent {
	if len(s.Named) > 0 || !s.Chosen.Empty() {
		return s.Named
	}
	return s.View.Agents
}

// One returns the agent of a command about a single agent: the named or the only agent. It
// returns a usage error if the run has several and none is named.
func (s *Selection) One(verb string) (*store.Agent, error) {
	agents := s.Agents()
	if len(s.Named) == 0 {
		agents = landing.Workers(s.View)
	}
	if len(agents) == 1 {
		return agents[0], nil
	}
	if len(s.View.Agents) == 0 {
		return nil, exit.Usagef("%s: run %s has no agents; `%s status %s` tells of the run", verb, s.Run.ID, cmdline.Program, s.Run.ID)
	}
	return nil, exit.Usagef("%s: run %s has %s; name one, such as %s/%s",
		verb, s.Run.ID, termtext.Count(len(s.View.Agents), "agent", "agents"), s.Run.ID, "a1")
}

// refuseModules refuses addresses of submodules in a command that takes whole
// patches.
func (s *Selection) refuseModules(verb string) error {
	for _, a := range s.Named {
		if a.Module != nil {
			return &exit.UsageError{
				Text:   fmt.Sprintf("%s: %s/%s is a part of the patch of %s, which is taken as a whole", verb, a.ID, termtext.Line(a.Module.Path), a.ID),
				Advice: fmt.Sprintf("name %s; only diff and show take a submodule", a.ID),
			}
		}
	}
	return nil
}

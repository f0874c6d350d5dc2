package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
)

// chooseAgents finds the agents of prompts: those that tasks name, and the
// agent for all others.
func chooseAgents(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config, use *config.Use) error {
	if len(pl.workflow.Command) > 0 {
		if c.IsSet("agent") {
			return exit.Usagef("run: --agent and a command after -- exclude each other")
		}
		return nil
	}
	pl.Config.Agents = map[string]*agent.Spec{}
	if pl.Script != nil {
		return chooseScriptAgents(p, c, pl, conf, use)
	}
	needed := len(pl.workflow.Tasks) == 0
	for _, t := range pl.workflow.Tasks {
		switch {
		case len(t.Command) > 0:
		case t.Agent == "":
			needed = true
		default:
			a, err := conf.Agent(t.Agent)
			if err != nil {
				return cmdline.Refused(&fanout.TaskError{
					Source: pl.workflow.Source, Line: t.Line, Field: "agent", Reason: err.Error(), Tip: exit.HintOf(err),
				})
			}
			if err := addAgent(p, c, pl, a); err != nil {
				return err
			}
		}
	}
	if needed {
		a, err := NamedAgent(p, c, pl, conf)
		if err != nil {
			return err
		}
		if err := addAgent(p, c, pl, a.Agent); err != nil {
			return err
		}
		pl.workflow.Agent, pl.chosen = a.Name, a
	} else if c.IsSet("agent") {
		return exit.Usagef("run: --agent %s: every task names its own agent or command", c.String("agent"))
	}
	if err := addRoleAgents(p, c, pl, conf); err != nil {
		return err
	}
	use.Agents = append(use.Agents, slices.Sorted(maps.Keys(pl.Config.Agents))...)
	return nil
}

// chooseScriptAgents records all agents there are: which of them a script will
// name is not known before it runs.
func chooseScriptAgents(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config, use *config.Use) error {
	names := conf.AgentNames()
	for _, f := range FoundAgents(p.Env) {
		if f.Here() && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		a, err := conf.Agent(name)
		if err != nil {
			return err
		}
		if _, missing := SpecOf(p, a); missing != nil {
			continue // nobody may name it; who does is told
		}
		if err := addAgent(p, c, pl, a); err != nil {
			return err
		}
		use.Agents = append(use.Agents, name)
	}
	a, err := scriptAgent(p, c, pl, conf)
	if err != nil || a.Name == "" {
		return err
	}
	if err := addAgent(p, c, pl, a.Agent); err != nil {
		return err
	}
	pl.Script.Agent, pl.chosen = a.Name, a
	// The others may never be named.
	if _, err := agentWrites(p, pl, a.Agent, false); err != nil {
		return err
	}
	return hasVariables(p, a.Agent)
}

// scriptAgent is the agent of those calls of a script that name none. There may
// be none: a script can name an agent for each, or start none at all. That of
// --stages names none.
func scriptAgent(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config) (chosen, error) {
	a, err := NamedAgent(p, c, pl, conf)
	if err != nil && !c.IsSet("agent") && pl.roleAgent() == "" && conf.DefaultAgent == "" && !c.Bool("stages") {
		return chosen{}, nil
	}
	return a, err
}

// addAgent records how an agent is driven.
func addAgent(p *cmdline.Place, c *cli.Context, pl *Plan, a config.Agent) error {
	if pl.Config.Agents[a.Name] != nil {
		return nil
	}
	spec, err := SpecOf(p, a)
	if err != nil {
		return err
	}
	// A flag is meant for this run, so it takes precedence over the file.
	if c.IsSet("timeout") {
		spec.Timeout = pl.Config.Timeout
	}
	if c.IsSet("idle-timeout") {
		spec.IdleTimeout = pl.Config.IdleTimeout
	}
	// An agent of a script may never be named, so that it may lack something.
	if spec.Write, err = agentWrites(p, pl, a, pl.Script != nil); err != nil {
		return err
	}
	pl.Config.Agents[a.Name] = spec
	if pl.Script != nil {
		return nil
	}
	return hasVariables(p, a)
}

// hasVariables refuses an agent that takes a variable which is not set.
func hasVariables(p *cmdline.Place, a config.Agent) error {
	_, unset := a.Environ(func(name string) (string, bool) {
		for _, kv := range p.Env.Environ {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value, true
			}
		}
		return "", false
	})
	if len(unset) > 0 {
		return exit.Usagef("agent %s takes $%s from the environment, where it is not set", a.Name, strings.Join(unset, ", $"))
	}
	return nil
}

package cli

import (
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/config"
	"agentswarm/swarm/fanout"
)

// chooseAgents finds the agents that prompts go to: those that tasks name,
// and the one for all others.
func (p *place) chooseAgents(c *cli.Context, pl *plan, conf *config.Config, use *config.Use) error {
	if len(pl.workflow.Command) > 0 {
		if c.IsSet("agent") {
			return usagef("run: --agent and a command after -- exclude each other")
		}
		return nil
	}
	pl.config.Agents = map[string]*agent.Spec{}
	if pl.script != nil {
		return p.chooseScriptAgents(c, pl, conf, use)
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
				return refused(&fanout.TaskError{
					Source: pl.workflow.Source, Line: t.Line, Field: "agent", Reason: err.Error(), Tip: hintOf(err),
				})
			}
			if err := p.addAgent(c, pl, a); err != nil {
				return err
			}
		}
	}
	if needed {
		a, err := p.namedAgent(c, conf)
		if err != nil {
			return err
		}
		if err := p.addAgent(c, pl, a); err != nil {
			return err
		}
		pl.workflow.Agent = a.Name
	} else if c.IsSet("agent") {
		return usagef("run: --agent %s: every task names its own agent or command", c.String("agent"))
	}
	for name := range pl.config.Agents {
		use.Agents = append(use.Agents, name)
	}
	return nil
}

// chooseScriptAgents records all agents there are: which of them a script will
// name is not known before it runs.
func (p *place) chooseScriptAgents(c *cli.Context, pl *plan, conf *config.Config, use *config.Use) error {
	for _, name := range conf.AgentNames() {
		a, err := conf.Agent(name)
		if err != nil {
			return err
		}
		if err := p.addAgent(c, pl, a); err != nil {
			return err
		}
		use.Agents = append(use.Agents, name)
	}
	if c.IsSet("agent") || conf.DefaultAgent != "" {
		a, err := p.namedAgent(c, conf)
		if err != nil {
			return err
		}
		pl.script.Agent = a.Name
	} else if len(use.Agents) == 1 {
		pl.script.Agent = use.Agents[0]
	}
	if pl.script.Agent == "" {
		return nil
	}
	// The others may never be named.
	a, err := conf.Agent(pl.script.Agent)
	if err != nil {
		return err
	}
	if _, err := p.agentWrites(pl, a, false); err != nil {
		return err
	}
	return p.hasVariables(a)
}

// addAgent records how an agent is driven.
func (p *place) addAgent(c *cli.Context, pl *plan, a config.Agent) error {
	if pl.config.Agents[a.Name] != nil {
		return nil
	}
	spec := &agent.Spec{
		Name: a.Name, Kind: a.Kind.String(), Command: a.Command,
		Input: agent.Input(a.Input.String()), Format: agent.Format(a.Format.String()),
		Success: agent.Success(a.Success.String()), Env: a.Env, PTY: a.PTY,
		Timeout: a.Timeout, IdleTimeout: a.IdleTimeout, Lane: a.Lane,
	}
	// A flag is meant for this run, so it wins over what the file says.
	if c.IsSet("timeout") {
		spec.Timeout = pl.config.Timeout
	}
	if c.IsSet("idle-timeout") {
		spec.IdleTimeout = pl.config.IdleTimeout
	}
	// An agent of a script may never be named, so that it may lack something.
	var err error
	if spec.Write, err = p.agentWrites(pl, a, pl.script != nil); err != nil {
		return err
	}
	pl.config.Agents[a.Name] = spec
	if pl.script != nil {
		return nil
	}
	return p.hasVariables(a)
}

// hasVariables refuses an agent that takes a variable which is not set.
func (p *place) hasVariables(a config.Agent) error {
	_, unset := a.Environ(func(name string) (string, bool) {
		for _, kv := range p.env.Environ {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value, true
			}
		}
		return "", false
	})
	if len(unset) > 0 {
		return usagef("agent %s takes $%s from the environment, where it is not set", a.Name, strings.Join(unset, ", $"))
	}
	return nil
}

// namedAgent is the agent that --agent names, or the default one.
func (p *place) namedAgent(c *cli.Context, conf *config.Config) (config.Agent, error) {
	name := c.String("agent")
	switch known := conf.AgentNames(); {
	case c.IsSet("agent") && name == "":
		return config.Agent{}, usagef("run: --agent needs the name of an agent")
	case name == "" && conf.DefaultAgent == "" && len(known) > 0:
		return config.Agent{}, &UsageError{
			Text:   "run: a prompt needs an agent: name one with --agent, or set default_agent in the configuration",
			Advice: "configured here: " + strings.Join(known, ", "),
		}
	case name == "" && conf.DefaultAgent == "":
		return config.Agent{}, &UsageError{
			Text:   "run: a prompt needs an agent, and none is configured",
			Advice: "describe one in a table [agents.NAME] of " + p.userFile() + ", or put a command after --",
		}
	}
	a, err := conf.Agent(name)
	return a, refused(err)
}

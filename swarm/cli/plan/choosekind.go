package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/config"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

// chosen is the agent that prompts go to which name none.
type chosen struct {
	config.Agent
	Why string // it was chosen though nobody named it; empty: somebody did
}

// NamedAgent is the agent of --agent, of the run's role, or the default agent;
// else the only choice here. It returns a usage error if there is none or the
// name is unknown.
func NamedAgent(p *cmdline.Place, c *cli.Context, pl *Plan, conf *config.Config) (chosen, error) {
	name, why := cmp.Or(c.String("agent"), pl.roleAgent()), ""
	if c.IsSet("agent") && name == "" {
		return chosen{}, exit.Usagef("run: --agent needs the name of an agent")
	}
	if name == "" && conf.DefaultAgent == "" {
		var err error
		if name, why, err = OnlyChoice(p, conf.AgentNames()); err != nil {
			return chosen{}, err
		}
	}
	a, err := conf.Agent(name)
	return chosen{a, why}, cmdline.Refused(err)
}

// OnlyChoice is the agent of a prompt without a chosen agent, and the reason
// for it. It returns a usage error if there is none, or if there are several.
func OnlyChoice(p *cmdline.Place, configured []string) (name, why string, err error) {
	switch len(configured) {
	case 0:
	case 1:
		return configured[0], "the only one configured", nil
	default:
		return "", "", &exit.UsageError{
			Text:   "run: a prompt needs an agent: name one with --agent, or set run.default_agent in the configuration",
			Advice: "configured here: " + strings.Join(configured, ", "),
		}
	}
	found := FoundAgents(p.Env)
	installed := kinds.Installed(found)
	if len(installed) == 1 {
		return installed[0].Name, "the only agent CLI installed", nil
	}
	if len(installed) > 1 {
		return "", "", &exit.UsageError{
			Text:   "run: a prompt needs an agent, and several are installed: " + kinds.Names(installed),
			Advice: "name one with --agent, or set run.default_agent in " + p.UserFile(),
		}
	}
	if at := slices.IndexFunc(found, func(f kinds.Found) bool { return f.Name == agent.KindBuiltin }); at >= 0 && found[at].Ready() {
		return agent.KindBuiltin, strings.TrimSuffix("no agent CLI is installed; "+found[at].Login.Name, "; "), nil
	}
	return "", "", noAgent(p, found)
}

// noAgent lists the programs that would be an agent.
func noAgent(p *cmdline.Place, found []kinds.Found) error {
	lines := append([]string{"run: no coding agent was found; install one of these:"}, kinds.InstallCommands(found)...)
	return &exit.UsageError{
		Text:   strings.Join(lines, "\n"),
		Advice: "for another program, write a table [agents.NAME] into " + p.UserFile() + ", or put a command after --",
	}
}

// SpecOf is how an agent is driven, as it is recorded.
func SpecOf(p *cmdline.Place, a config.Agent) (*agent.Spec, error) {
	spec := &agent.Spec{
		Input: agent.Input(a.Input.String()), Format: agent.Format(a.Format.String()),
		Success: agent.Success(a.Success.String()), PTY: a.PTY,
	}
	if a.Kind != config.KindCommand {
		kind, known := cmdline.Kinds(p.Env).Find(a.Kind.String())
		if !known {
			return nil, exit.Usagef("agent %s: this version does not drive agents of the kind %s", a.Name, a.Kind)
		}
		copied := kind.Spec
		spec = &copied
	}
	spec.Name, spec.Kind, spec.Command, spec.Env = a.Name, a.Kind.String(), a.Command, a.Env
	spec.Model, spec.Effort, spec.Tools = a.Model, a.Effort, a.Tools
	spec.ReadOnly, spec.Turns, spec.Lane = a.ReadOnly, a.MaxTurns, a.Lane
	spec.Timeout, spec.IdleTimeout = a.Timeout, a.IdleTimeout
	if a.Kind == config.KindCommand || len(a.Command) > 0 {
		return spec, nil
	}
	return spec, cmdline.Refused(cmdline.NewMachine(p.Env).FindCommand(spec))
}

// FindAgain finds the programs of a run's agents that are no longer where they
// were when it began, and tells of them.
func FindAgain(p *cmdline.Place, agents map[string]*agent.Spec, calls []*task.Call) error {
	moved, err := cmdline.NewMachine(p.Env).FindMoved(agents, calls)
	for _, m := range moved {
		fmt.Fprintf(p.Env.Stderr, "agent %s: %s is gone; going on with %s\n", termtext.Line(m.Agent), termtext.Line(m.Was), termtext.Line(m.Now))
	}
	return cmdline.Refused(err)
}

// SayAgent reports the chosen agent if no name was given, and possible problems
// with the logins of used agents.
func SayAgent(p *cmdline.Place, pl *Plan) {
	if pl.chosen.Why != "" {
		fmt.Fprintf(p.Env.Stderr, "agent: %s (%s)\n", termtext.Line(pl.chosen.Name), termtext.Line(pl.chosen.Why))
	}
	used := usedKinds(p, pl)
	for _, kind := range cmdline.Kinds(p.Env).WithProviders(pl.Config.Providers) {
		if !used[kind.Name] || kind.Login == nil {
			continue
		}
		login := kind.Login(cmdline.NewMachine(p.Env).Surroundings())
		switch {
		case login.Name == "":
			fmt.Fprintf(p.Env.Stderr, "login of %s: none was found; %s\n", kind.Name, termtext.Line(login.Missing))
		case login.Risk != "" && (pl.Script != nil || len(pl.Calls) > 1):
			fmt.Fprintf(p.Env.Stderr, "login of %s: %s: %s\n", kind.Name, termtext.Line(login.Name), termtext.Line(login.Risk))
		}
	}
}

// usedKinds are the kinds of the agents that a plan starts and that need a login.
func usedKinds(p *cmdline.Place, pl *Plan) map[string]bool {
	calls := pl.Calls
	if s := pl.Script; s != nil && s.Agent != "" {
		call := &task.Call{Agent: s.Agent}
		if s.Options != nil {
			call.Options = *s.Options
		}
		calls = append(slices.Clone(calls), call)
	}
	used := map[string]bool{}
	for _, call := range calls {
		if pl.Config.Agents[call.Agent] == nil {
			continue
		}
		spec := engine.SpecOf(pl.Config, call)
		local := spec.Kind == agent.KindBuiltin && provider.Keyless(p.Env.Getenv, pl.Config.Providers, spec.Model)
		used[spec.Kind] = used[spec.Kind] || !local
	}
	return used
}

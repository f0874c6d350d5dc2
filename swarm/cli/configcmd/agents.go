package configcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/riskcmd"
	"agentswarm/swarm/config"
	"agentswarm/worktree/git"
)

// NewAgents returns the command agents.
func NewAgents(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "agents",
		Usage: "list agents, their logins, and how to install others",
		Flags: []cli.Flag{cmdline.JSONFlag()},
		Description: `Lists the kinds of agents that swarm knows and the agents that are configured:
where the program is, its version and whether that was tried, which login it uses,
its options, and how much memory one takes. For an agent that is not installed it
prints the command that installs it. No model is asked.

Examples:
  swarm agents
  swarm agents --json
  swarm run --agent pi "fix the failing test"`,
		Action: func(c *cli.Context) error { return agentsAction(c, env) },
	}
}

// agentsObject is swarm.agents/1, described in docs/json.md.
type agentsObject struct {
	Schema string                     `json:"schema"`
	Agents []knownAgent               `json:"agents"`
	found  map[string]kinds.Versioned // by kind
}

// knownAgent is an agent that a run may use.
type knownAgent struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Configured is set where a table of the configuration describes it.
	Configured bool   `json:"configured,omitempty"`
	Default    bool   `json:"default,omitempty"`
	Here       bool   `json:"here"` // it can be started
	Path       string `json:"path,omitempty"`
	Install    string `json:"install,omitempty"` // the command that installs it, if it is not here

	Version string       `json:"version,omitempty"`
	Tested  string       `json:"tested,omitempty"`
	Login   *loginObject `json:"login,omitempty"`
	Model   string       `json:"model,omitempty"`  // as configured
	Models  []string     `json:"models,omitempty"` // where they are known
	Can     []string     `json:"can,omitempty"`
	// Sandbox says how swarm treats the agent's own sandbox.
	Sandbox   string   `json:"sandbox,omitempty"`
	Footprint int64    `json:"footprint_bytes,omitempty"`
	Paid      bool     `json:"paid,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

type loginObject struct {
	Name    string `json:"name,omitempty"`
	Missing string `json:"missing,omitempty"`
	Risk    string `json:"risk,omitempty"`
}

func agentsAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	conf, err := ConfigAnywhere(c, env)
	if err != nil {
		return err
	}
	o, err := knownAgents(env, c.Context, conf)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return o.print(env.Stdout)
}

// ConfigAnywhere is the configuration of the repository around the current
// folder; outside of a repository, the user's. It returns an error if a file
// cannot be read or is invalid.
func ConfigAnywhere(c *cli.Context, env cmdline.Env) (*config.Config, error) {
	p, err := cmdline.Open(c, env)
	if err == nil {
		return p.LoadConfig(c.Context, "HEAD")
	}
	return cmdline.UserConfig(env)
}

// PlaceAnywhere is the repository around the current folder and the commit that
// its work begins at. Outside of a repository it is a place without both. It
// returns an error if a repository cannot be opened.
func PlaceAnywhere(c *cli.Context, env cmdline.Env) (*cmdline.Place, git.Hash, error) {
	p, err := cmdline.Open(c, env)
	var none *git.NotRepoError
	switch {
	case errors.As(err, &none):
		return cmdline.Without(env), "", nil
	case err != nil:
		return nil, "", err
	}
	base, err := riskcmd.Base(p, c)
	return p, base, err
}

// knownAgents looks at all agents there are.
func knownAgents(env cmdline.Env, ctx context.Context, conf *config.Config) (*agentsObject, error) {
	o := &agentsObject{Schema: "swarm.agents/1", Agents: []knownAgent{}, found: cmdline.NewMachine(env).Versions(ctx)}
	names := conf.AgentNames()
	for _, k := range cmdline.Kinds(env) {
		a, err := conf.Agent(k.Name)
		if err != nil {
			return nil, err
		}
		o.Agents = append(o.Agents, newKnownAgent(env, o.found[k.Name], a))
	}
	for _, name := range names {
		a, err := conf.Agent(name)
		if err != nil {
			return nil, err
		}
		if _, kind := o.found[name]; !kind {
			o.Agents = append(o.Agents, newKnownAgent(env, o.found[a.Kind.String()], a))
		}
	}
	for i := range o.Agents {
		a := &o.Agents[i]
		if text := plan.CoverBy(env, conf, a.Path); text != "" && a.Kind != agent.KindBuiltin {
			a.Notes = append(a.Notes, text)
		}
		a.Configured, a.Default = slices.Contains(names, a.Name), a.Name == conf.DefaultAgent
	}
	return o, nil
}

// newKnownAgent makes the entry of an agent. It has its kind's facts on this
// machine, unless it has a command of its own.
func newKnownAgent(env cmdline.Env, f kinds.Versioned, a config.Agent) knownAgent {
	k := knownAgent{Name: a.Name, Kind: a.Kind.String(), Model: a.Model, Path: f.Path}
	if len(a.Command) > 0 {
		k.Path = a.Command[0]
		if !strings.Contains(k.Path, "/") {
			k.Path = kinds.FindProgram(env.Getenv("PATH"), k.Path)
		}
	}
	k.Here = k.Path != ""
	if a.Kind == config.KindCommand {
		return k
	}
	if f.Kind.Name == "" {
		k.Here, k.Notes = false, []string{"this version does not drive agents of this kind"}
		return k
	}
	k.Can, k.Footprint, k.Paid = abilities(f.Can), f.Footprint, f.Paid
	if f.Can.Sandbox {
		k.Sandbox = "off inside swarm's sandbox, which holds it instead"
	}
	if f.Models != nil {
		k.Models = f.Models(cmdline.NewMachine(env).Surroundings())
	}
	if f.Kind.Login != nil {
		k.Login = &loginObject{Name: f.Login.Name, Missing: f.Login.Missing, Risk: f.Login.Risk}
	}
	switch {
	case !k.Here:
		k.Install = f.Install
	case len(a.Command) == 0 && f.Program != "":
		verdict := kinds.Judge(f.Said, f.Kind.Version)
		k.Version, k.Tested = f.Said, verdict.String()
		if advice := kinds.Advice(f.Kind, verdict); advice != "" {
			if f.Err != nil {
				advice += ": " + f.Err.Error()
			}
			k.Notes = append(k.Notes, advice)
		}
	}
	return k
}

// abilities are the abilities of an agent, in words.
func abilities(can agent.Abilities) []string {
	var all []string
	for _, ability := range []struct {
		name string
		has  bool
	}{
		{"model", can.Model}, {"effort", can.Effort}, {"max_thinking_tokens", can.Thinking}, {"tools", can.Tools}, {"read_only", can.ReadOnly},
		{"schema", can.Schema}, {"fork", can.Fork}, {"steer", can.Steer}, {"turns", can.Turns}, {"hook", can.Hook},
	} {
		if ability.has {
			all = append(all, ability.name)
		}
	}
	return all
}

// print shows the agents to a person.
func (o *agentsObject) print(w io.Writer) error {
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "AGENT"}, {Title: "KIND"}, {Title: "VERSION"}, {Title: "LOGIN"}, {Title: "MEMORY"}, {Title: "OPTIONS"},
	}}
	var notes []string
	note := func(name, format string, args ...any) {
		notes = append(notes, termtext.Line(name+": "+fmt.Sprintf(format, args...)))
	}
	for _, a := range o.Agents {
		name, login, memory := a.Name, "", ""
		if a.Default {
			name += " (default)"
		}
		if a.Login != nil {
			login = cmp.Or(a.Login.Name, "none")
		}
		if a.Footprint > 0 {
			memory = termtext.Bytes(a.Footprint)
		}
		version := cmp.Or(a.Version, map[bool]string{true: "installed", false: "not installed"}[a.Here])
		t.Row(name, a.Kind, version, login, memory, strings.ReplaceAll(strings.Join(a.Can, " "), "_", "-"))
		if a.Install != "" {
			note(a.Name, "%s", a.Install)
		}
		if text := a.set(); text != "" {
			note(a.Name, "%s", text)
		}
		for _, text := range a.Notes {
			note(a.Name, "%s", text)
		}
		if a.Here && a.Login != nil && a.Login.Name == "" {
			note(a.Name, "no login was found; %s", a.Login.Missing)
		}
		if a.Here && a.Login != nil && a.Login.Risk != "" {
			note(a.Name, "%s", a.Login.Risk)
		}
		if a.Here && a.Sandbox != "" {
			note(a.Name, "its own sandbox is %s", a.Sandbox)
		}
	}
	if err := t.Print(w, 0); err != nil || len(notes) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.Join(notes, "\n"))
	return err
}

// set is where the program of an agent is, and which models that is set up with.
func (a *knownAgent) set() string {
	if !a.Here {
		return ""
	}
	parts := []string{a.Path}
	if a.Model != "" {
		parts = append(parts, "model "+a.Model)
	}
	if len(a.Models) > 0 {
		parts = append(parts, "set up with "+plan.FirstFew(a.Models))
	}
	return strings.TrimPrefix(strings.Join(parts, "; "), "; ")
}

// checkLogins tells which login each agent that is installed uses, and whether a
// sandbox hides its program.
func checkLogins(ctx context.Context, p *cmdline.Place, o *doctorObject) error {
	conf, err := p.LoadConfig(ctx, "HEAD")
	if err != nil {
		conf = &config.Config{} // another check tells of that
	}
	for _, f := range plan.FoundAgents(p.Env) {
		if text := plan.CoverBy(p.Env, conf, f.Path); text != "" && f.Name != agent.KindBuiltin {
			o.add("program of "+f.Name, "note", text)
		}
		switch {
		case f.Kind.Login == nil, !f.Here():
		case f.Login.Name == "" && f.Program == "":
		case f.Login.Name == "":
			o.add("login of "+f.Name, "note", "none was found; "+f.Login.Missing)
		case f.Login.Risk != "":
			o.add("login of "+f.Name, "note", f.Login.Name+"; "+f.Login.Risk)
		default:
			o.add("login of "+f.Name, "ok", f.Login.Name)
		}
	}
	return nil
}

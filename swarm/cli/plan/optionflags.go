package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/builtin/model"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/fanout"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

// OptionFlags are the flags for the agents' models, tools and other options.
func OptionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "`MODEL` of agents: provider/model, provider/model:effort, or the program's own name"},
		&cli.StringFlag{Name: "effort", Usage: "reasoning effort `LEVEL` in the program's words, such as low"},
		&cli.Int64Flag{Name: "max-thinking-tokens", Usage: "at most `N` reasoning tokens for each answer"},
		&cli.StringFlag{Name: "tools", Usage: "allow only the tools `A,B`, of " + strings.Join(agent.AllTools(), " ")},
		&cli.BoolFlag{Name: "read-only", Usage: "allow only tools that change nothing"},
	}
}

// readOptionFlags are their values.
func readOptionFlags(c *cli.Context) (task.Options, error) {
	o := task.Options{Model: c.String("model"), Effort: c.String("effort"), ReadOnly: c.Bool("read-only")}
	if c.IsSet("max-thinking-tokens") {
		if o.MaxThinking = c.Int64("max-thinking-tokens"); o.MaxThinking < 1 {
			return o, exit.Usagef("run: --max-thinking-tokens %d: want a whole number from 1", o.MaxThinking)
		}
	}
	for _, name := range []string{"model", "effort"} {
		if c.IsSet(name) && !agent.IsOption(c.String(name)) {
			return o, exit.Usagef("run: --%s %q: want a word without spaces that does not begin with -", name, c.String(name))
		}
	}
	if !c.IsSet("tools") {
		return o, nil
	}
	for name := range strings.SplitSeq(c.String("tools"), ",") {
		o.Tools = append(o.Tools, strings.TrimSpace(name))
	}
	if unknown := agent.UnknownTool(o.Tools); unknown != "" || c.String("tools") == "" {
		return o, exit.Usagef("run: --tools %q: want some of %s, with commas between them", c.String("tools"), strings.Join(agent.AllTools(), ", "))
	}
	if o.ReadOnly && !agent.Reads(o.Tools) {
		return o, exit.Usagef("run: --tools %q: --read-only leaves only %s", c.String("tools"), strings.Join(agent.ReadOnlyTools(), ", "))
	}
	return o, nil
}

// takeOptions lays the flags under the options of tasks and scripts.
func (pl *Plan) takeOptions(c *cli.Context) error {
	o, err := readOptionFlags(c)
	if err != nil || !o.Any() {
		return err
	}
	if pl.Config.Roles != nil {
		o.Model = "" // which stands below that of a type
	}
	if len(pl.workflow.Command) > 0 {
		return exit.Usagef("run: --model, --effort, --max-thinking-tokens, --tools and --read-only are for agents; a command after -- has what stands in it")
	}
	if pl.Script != nil {
		pl.Script.Options = &o
		return nil
	}
	pl.workflow.Options = o
	return nil
}

// checkCalls refuses calls that their agents could not carry out as they are
// asked to, before anything begins.
func checkCalls(p *cmdline.Place, pl *Plan) error {
	known := cmdline.Kinds(p.Env).ByName()
	if s := pl.Script; s != nil && s.Agent != "" {
		return checkFlags(p, pl, known)
	}
	for _, call := range pl.Calls {
		err := engine.CheckCall(pl.Config, known, call)
		if err == nil {
			err = checkThinking(p, pl, call)
		}
		switch {
		case err == nil:
		case len(pl.workflow.Tasks) > 0:
			t := pl.workflow.Tasks[call.Index-1]
			return cmdline.Refused(&fanout.TaskError{Source: pl.workflow.Source, Line: t.Line, Reason: err.Error()})
		default:
			return exit.Usagef("run: %v", err)
		}
	}
	return nil
}

// checkThinking refuses a number of thinking tokens if the built-in agent would
// ask its model by an API without such a number. The API of a user's own
// command is not known.
func checkThinking(p *cmdline.Place, pl *Plan, call *task.Call) error {
	spec := engine.SpecOf(pl.Config, call)
	if spec.Kind != agent.KindBuiltin || spec.MaxThinking == 0 || !slices.Equal(spec.Command, []string{p.Env.Self}) {
		return nil
	}
	named, err := roles.ParseSpec(spec.Model)
	if err != nil {
		return nil // its attempt says so
	}
	api := provider.Over(p.Env.Getenv, pl.Config.Providers)[named.Provider].API
	if api == "" || api == provider.Anthropic {
		return nil // how much that takes the agent knows
	}
	if err := (&model.Endpoint{Spec: named, API: api}).Think(spec.MaxThinking); err != nil {
		return fmt.Errorf("max_thinking_tokens: %w", err)
	}
	return nil
}

// checkFlags refuses flags and roles that the agent of a script's calls does not take.
func checkFlags(p *cmdline.Place, pl *Plan, known map[string]agent.Kind) error {
	call := &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}, Agent: pl.Script.Agent}
	if pl.Script.Options != nil {
		call.Options = *pl.Script.Options
	}
	_, err := engine.Assign(pl.Config, known, engine.AssignRequest{Call: call})
	if err == nil {
		err = engine.CheckCall(pl.Config, known, call)
	}
	if err != nil {
		return &exit.UsageError{
			Text:   fmt.Sprintf("run: %v", err),
			Advice: "calls may name agents of their own, and what those are to use",
		}
	}
	return nil
}

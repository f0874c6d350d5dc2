package riskcmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/ask"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/policy"
)

func newRiskLogCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "log",
		Usage:     "list decisions about actions of a run's agents",
		ArgsUsage: "[RUN | AGENT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "unknown", Usage: "list programs without a rule that agents ran, with a rule for each"},
			cmdline.JSONFlag(),
		},
		Description: `Lists the decisions about actions above SAFE as the run recorded them, oldest first:
the time, the agent, the tier, the verdict, and who decided. With an AGENT it lists
only its actions. Without an argument it lists those of the latest run.

With --unknown it lists the programs without a rule: how often agents ran each, the
verdicts, the verbs that asked, and a line for [verbs] of risk.toml. Read the line
before you copy it: with it the program no longer asks.

Examples:
  swarm risk log
  swarm risk log --unknown
  swarm risk log a3
  swarm risk log k3x9q2 --json`,
		Action: func(c *cli.Context) error { return riskLogAction(c, env) },
	}
}

// riskLogObject is swarm.risklog/1, described in docs/json.md.
type riskLogObject struct {
	Schema    string            `json:"schema"`
	Run       string            `json:"run"`
	Decisions []json.RawMessage `json:"decisions"`
}

func riskLogAction(c *cli.Context, env cmdline.Env) error {
	args, err := cmdline.Arguments(c, 0, 1)
	if err == nil {
		err = cmdline.NoneEmpty(args)
	}
	if err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	at, err := p.State.Resolve(strings.Join(args, ""))
	if err != nil {
		return cmdline.Refused(err)
	}
	if c.Bool("unknown") {
		programs, err := policy.ReadUnknown(at, sayDamaged(p, at.Run.UnknownLog()))
		if err != nil {
			return err
		}
		return printUnknown(c, env, at.Run.ID, programs)
	}
	all, err := policy.ReadLog(at, sayDamaged(p, at.Run.RiskLog()))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, newRiskLogObject(at.Run.ID, all))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(env.Stderr, "run %s: no decision is on record\n", at.Run.ID)
		return err
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	return riskLogTable(all).Print(env.Stdout, width)
}

func newRiskLogObject(run string, all []policy.Logged) riskLogObject {
	o := riskLogObject{Schema: "swarm.risklog/1", Run: run, Decisions: []json.RawMessage{}}
	for _, d := range all {
		o.Decisions = append(o.Decisions, d.Line)
	}
	return o
}

// sayDamaged warns of a line of a record that cannot be read.
func sayDamaged(p *cmdline.Place, file string) func(line int, err error) {
	return func(line int, err error) {
		fmt.Fprintf(p.Env.Stderr, "%s: %s: line %d: %s\n", cmdline.Program, termtext.Line(file), line, termtext.Line(termtext.ErrorLine(err)))
	}
}

func riskLogTable(all []policy.Logged) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "TIME"}, {Title: "AGENT"}, {Title: "TIER"}, {Title: "VERDICT"}, {Title: "BY"}, {Title: "ACTION", Flex: true},
	}}
	for _, d := range all {
		t.Row(d.Time.Local().Format(time.DateTime), string(d.Agent), d.Tier, d.Outcome(), d.By, judgedText(d.Action))
	}
	return t
}

// judgedText is an action in a line, as somebody would say it.
func judgedText(action json.RawMessage) string {
	var a ask.Action
	if json.Unmarshal(action, &a) != nil || !a.Whole() {
		return cmdline.WantsText(action)
	}
	text := cmdline.AsTyped(&a)
	return terminal.ShortenEnd(termtext.Line(strings.ToValidUTF8(text[:min(len(text), 4*cmdline.WantsWidth)], "")), cmdline.WantsWidth)
}

// unknownObject is swarm.riskunknown/1, described in docs/json.md.
type unknownObject struct {
	Schema   string                   `json:"schema"`
	Run      string                   `json:"run"`
	Programs []*policy.UnknownProgram `json:"programs"`
}

// printUnknown prints the programs without a rule that agents ran.
func printUnknown(c *cli.Context, env cmdline.Env, run string, all []*policy.UnknownProgram) error {
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, unknownObject{Schema: "swarm.riskunknown/1", Run: run, Programs: all})
	}
	if len(all) == 0 {
		_, err := fmt.Fprintf(env.Stderr, "run %s: no program without a rule is on record\n", run)
		return err
	}
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "PROGRAM"}, {Title: "RUNS"}, {Title: "PROCEED"}, {Title: "ASK"}, {Title: "DENY"}, {Title: "VERBS", Flex: true}, {Title: "SETTLED BY, IN [verbs] OF risk.toml", Flex: true},
	}}
	for _, u := range all {
		t.Row(termtext.Line(u.Program), fmt.Sprint(u.Runs), fmt.Sprint(u.Proceed), fmt.Sprint(u.Ask), fmt.Sprint(u.Deny),
			termtext.Line(strings.Join(u.Verbs, ", ")), termtext.Line(u.Settle))
	}
	width, _ := terminal.Detect(env.Stdout, env.Getenv).Size()
	return t.Print(env.Stdout, width)
}

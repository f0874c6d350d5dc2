package workflowcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/assign"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/runcmd"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow"
	"agentswarm/swarm/workflow/host"
	"agentswarm/swarm/workflow/library"
)

func newDiffCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "show what a resume with another script would run again",
		ArgsUsage: "RUN FILE|NAME",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `Runs the script against the record of the run, and starts nothing. It prints which
calls take a recorded result, which agents would run again or anew, the cost of their
earlier attempts, and which recorded agents no call needs any more. It stops at the
first point that needs the result of a new agent.

Examples:
  swarm workflow diff k3x9q2 plan.js
  swarm workflow diff k3x9q2 review --json
  swarm resume k3x9q2 --script plan.js`,
		Action: func(c *cli.Context) error { return diffAction(c, env) },
	}
}

// replayObject is swarm.replay/1, described in docs/json.md.
type replayObject struct {
	Schema   string         `json:"schema"`
	Run      string         `json:"run"`
	File     string         `json:"file"`
	Complete bool           `json:"complete"`
	Steps    []stepObject   `json:"steps"`
	Dropped  []droppedAgent `json:"dropped"`
	Kept     costObject     `json:"kept"`
	Again    costObject     `json:"again"`
	Result   any            `json:"result,omitempty"`
	Error    *faultObject   `json:"error,omitempty"`
}

type stepObject struct {
	Verb      string      `json:"verb"`
	Fate      string      `json:"fate"`
	Agent     string      `json:"agent,omitempty"`
	Was       string      `json:"was,omitempty"`
	Label     string      `json:"label,omitempty"`
	Phase     string      `json:"phase,omitempty"`
	About     string      `json:"about,omitempty"`
	Cancelled bool        `json:"cancelled,omitempty"`
	Usage     *task.Usage `json:"usage,omitempty"`
}

type droppedAgent struct {
	Agent  string      `json:"agent"`
	Label  string      `json:"label,omitempty"`
	Phase  string      `json:"phase,omitempty"`
	Status string      `json:"status"`
	Usage  *task.Usage `json:"usage,omitempty"`
}

// costObject is a number of agents and the cost of their attempts so far.
type costObject struct {
	Agents int         `json:"agents"`
	Usage  *task.Usage `json:"usage,omitempty"`
}

func diffAction(c *cli.Context, env cmdline.Env) error {
	p, words, err := openWithScripts(c, env, 2, 2)
	if err != nil {
		return err
	}
	const verb = "workflow diff"
	s, err := selection.Run(c.Context, p, words[:1])
	if err != nil {
		return err
	}
	id := s.View.Identity
	switch {
	case len(s.Named) > 0:
		return exit.Usagef("%s: takes a run, and %q is an agent", verb, words[0])
	case id.Workflow.Kind != store.WorkflowScript:
		return exit.Usagef("%s: run %s has no script (%s)", verb, id.Run, id.Workflow.Kind)
	case s.View.Status == store.RunRunning:
		return &exit.UsageError{
			Text:   fmt.Sprintf("%s: run %s is still running", verb, id.Run),
			Advice: fmt.Sprintf("wait for it with `%s wait %s`", env.Calls, id.Run),
		}
	}
	found, err := plan.OpenLibrary(p).Find(verb, words[1])
	if err != nil {
		return err
	}
	pl := &plan.Plan{Verb: verb}
	if pl.Script, err = library.Latest(s.View); err != nil {
		return err
	}
	if err := runcmd.EditScript(p, pl, found.Path); err != nil {
		return err
	}
	pl.Script.Name = found.File
	if err := plan.Vet(c.Context, p, pl); err != nil {
		return err
	}
	seen, err := foresee(c.Context, p, s, pl.Script)
	if err != nil {
		return err
	}
	o := newReplayObject(seen)
	o.Run, o.File = id.Run, pl.Script.Name
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return printReplay(p, o)
}

// foresee runs a script against the record of a run.
func foresee(ctx context.Context, p *cmdline.Place, s *selection.Selection, edited *library.Script) (_ *workflow.Preview, err error) {
	config, err := session.EngineConfig(s.View)
	if err != nil {
		return nil, err
	}
	tools, err := readingTools(ctx, p, s, config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	known, err := cmdline.PricedKinds(p.Env, config)
	if err != nil {
		return nil, err
	}
	assigned := &assign.Assigner{Config: config, Kinds: known}
	calling := edited.Calling(config, s.View.Identity.Base, assigned.Script(), func(call *task.Call) error {
		return engine.CheckCall(config, known, call)
	})
	calling.Can = plan.Can(known, config)
	calling.Walled = true // the commands are on record, and none runs now
	deps := engine.Deps{Run: s.Run, Kinds: known}
	return workflow.Foresee(ctx, workflow.PreviewRequest{
		Prior: s.View, Recall: engine.NewRecall(deps, config, s.View), Tools: tools, Script: edited.Record(),
		Config:  calling,
		Machine: process.Runner(p.Env.Self),
		Nested: func(_ context.Context, n *script.Nested) (*script.Source, error) {
			return plan.OpenLibrary(p).Nested(edited, n)
		},
	})
}

// readingTools are the tools of a script that is only looked at: they land nothing.
func readingTools(ctx context.Context, p *cmdline.Place, s *selection.Selection, config engine.Config) (*host.Tools, error) {
	frozen, err := session.FrozenConfig(ctx, p, s.Run)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "swarm-preview-")
	if err != nil {
		return nil, err
	}
	return host.New(host.Config{
		Repo: p.Repo, Frozen: frozen, Run: s.Run, Dir: dir, Identity: s.View.Identity, Sandbox: &isolation.Executor{}, Engine: config,
	})
}

func newReplayObject(seen *workflow.Preview) *replayObject {
	o := &replayObject{
		Schema: "swarm.replay/1", Complete: seen.Outcome != nil,
		Steps: []stepObject{}, Dropped: []droppedAgent{},
	}
	for _, s := range seen.Steps {
		step := newStepObject(s)
		o.Steps = append(o.Steps, step)
		if s.Call == nil {
			continue
		}
		if s.Fate == workflow.FateRecorded || s.Fate == workflow.FateCheck {
			o.Kept.add(s.Earlier)
		} else {
			o.Again.add(s.Earlier)
		}
	}
	for _, a := range seen.Dropped {
		o.Dropped = append(o.Dropped, droppedAgent{
			Agent: string(a.ID), Label: a.Call.Label, Phase: a.Call.Phase, Status: task.Word(a.Status), Usage: paid(a),
		})
	}
	if out := seen.Outcome; out != nil && out.Error != nil {
		o.Error = newFaultObject(&library.Error{Err: out.Error, Thrown: true})
	} else if out != nil && out.Value != nil {
		o.Result = out.Value
	}
	return o
}

func newStepObject(s workflow.Step) stepObject {
	o := stepObject{
		Verb: script.Verb(s.Request), Fate: string(s.Fate), Agent: string(s.Agent), Cancelled: s.Cancelled,
	}
	if s.Call != nil {
		o.Label, o.Phase = s.Call.Label, s.Call.Phase
	}
	if s.Earlier != nil {
		o.Usage = paid(s.Earlier)
		if s.Earlier.ID != s.Agent {
			o.Was = string(s.Earlier.ID)
		}
	}
	switch r := s.Request.(type) {
	case *script.Call:
		o.About, _, _ = strings.Cut(strings.TrimSpace(r.Prompt), "\n")
	case *script.Check:
		o.About = r.Name
	case *script.Question:
		o.About = r.Text
	case *script.Land:
		o.About = r.Into
	case *script.Send:
		o.Agent, o.About = r.ID, r.Text
	default: // says all there is to say
	}
	return o
}

// paid is the cost of an agent's attempts; nil if it is unknown.
func paid(a *store.Agent) *task.Usage {
	if a.Spent == (task.Usage{}) {
		return nil
	}
	return &a.Spent
}

func (c *costObject) add(a *store.Agent) {
	c.Agents++
	if a == nil || a.Spent == (task.Usage{}) {
		return
	}
	if c.Usage == nil {
		c.Usage = &task.Usage{}
	}
	c.Usage.Add(a.Spent)
}

func printReplay(p *cmdline.Place, o *replayObject) error {
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "AGENT"}, {Title: "WOULD"}, {Title: "COST", Right: true}, {Title: "WHAT", Flex: true},
	}}
	words := map[workflow.Fate]string{
		workflow.FateRecorded: "be taken as it is", workflow.FateCheck: "be checked",
		workflow.FateAgain: "run again", workflow.FateNew: "run anew",
	}
	for _, s := range o.Steps {
		would := words[workflow.Fate(s.Fate)]
		if s.Verb != "call" && s.Fate == string(workflow.FateNew) {
			would = "be done"
		}
		if s.Was != "" {
			would += ", was " + s.Was
		}
		if s.Cancelled {
			would += ", then be cancelled"
		}
		what := s.Label
		switch {
		case s.Verb != "call":
			what = s.Verb + " " + s.About
		case what == "":
			what = s.About
		}
		t.Row(s.Agent, would, costText(s.Usage), what)
	}
	for _, a := range o.Dropped {
		t.Row(a.Agent, "not be asked for", costText(a.Usage), a.Label)
	}
	width, _ := terminal.Detect(p.Env.Stdout, p.Env.Getenv).Size()
	if err := t.Print(p.Env.Stdout, width); err != nil {
		return err
	}
	_, err := fmt.Fprint(p.Env.Stdout, termtext.Text(replaySummary(o)))
	return err
}

// replaySummary sums up the preview in a line or two.
func replaySummary(o *replayObject) string {
	text := fmt.Sprintf("%s would be started", termtext.Count(o.Again.Agents, "agent", "agents"))
	if o.Again.Usage != nil {
		text += ", whose earlier attempts cost " + costText(o.Again.Usage)
	}
	text += fmt.Sprintf("; %s would be kept", termtext.Count(o.Kept.Agents, "agent", "agents"))
	if o.Kept.Usage != nil {
		text += " (" + costText(o.Kept.Usage) + ")"
	}
	text += "\n"
	switch {
	case !o.Complete:
		text += "what follows is not known until those have ended\n"
	case o.Error != nil:
		where := ""
		if o.Error.Where != "" {
			where = o.Error.Where + ": "
		}
		text += "the script would throw: " + where + o.Error.Message + "\n"
	}
	return text
}

// costText is a cost for people: the tokens that a budget counts, and dollars
// if the usage has them.
func costText(u *task.Usage) string {
	if u == nil {
		return ""
	}
	text := fmt.Sprintf("%d tokens", u.Output)
	if u.CostUSD > 0 {
		text += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return text
}

package workflowcmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/config"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/script"
	"agentswarm/swarm/workflow/library"
)

// New returns the command workflow with its subcommands.
func New(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "workflow",
		Usage: "list, check, test and save workflow scripts",
		Description: `A workflow is a script that starts the agents of a run. run --workflow NAME starts a
saved one, from .swarm/workflows or .claude/workflows of the repository.

Examples:
  swarm workflow ls
  swarm workflow validate plan.js
  swarm workflow test plan.js
  swarm workflow save review plan.js
  swarm run --workflow review`,
		Subcommands: []*cli.Command{
			newLsCommand(env), newValidateCommand(env), newTypesCommand(env),
			newTestCommand(env), newSaveCommand(env), newDiffCommand(env),
		},
	}
}

func newLsCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "ls",
		Usage: "list the saved workflows",
		Flags: []cli.Flag{cmdline.JSONFlag()},
		Description: `Lists the workflows of this checkout with what they say of themselves: their
phases, whether they describe their args, and whether you have approved their
text. If two have one name, that in .swarm/workflows counts. One that is broken is
listed with its error.

Examples:
  swarm workflow ls
  swarm workflow ls --json`,
		Action: func(c *cli.Context) error { return lsAction(c, env) },
	}
}

// workflowsObject is swarm.workflows/1, described in docs/json.md.
type workflowsObject struct {
	Schema    string           `json:"schema"`
	Workflows []workflowObject `json:"workflows"`
}

type workflowObject struct {
	Name        string       `json:"name"`
	File        string       `json:"file"`
	Description string       `json:"description,omitempty"`
	WhenToUse   string       `json:"when_to_use,omitempty"`
	Phases      []string     `json:"phases,omitempty"`
	Args        bool         `json:"args"`
	Trusted     bool         `json:"trusted"`
	Error       *faultObject `json:"error,omitempty"`
}

// faultObject is an error of a script, and its place.
type faultObject struct {
	Message string `json:"message"`
	Where   string `json:"where,omitempty"`
	Line    string `json:"line,omitempty"`
}

func newFaultObject(err error) *faultObject {
	if err == nil {
		return nil
	}
	var e *library.Error
	if errors.As(err, &e) {
		return &faultObject{Message: e.Err.Message, Where: e.Err.Where, Line: e.Excerpt()}
	}
	return &faultObject{Message: err.Error()}
}

func newWorkflowObject(v library.Checked) workflowObject {
	o := workflowObject{
		Name: v.Name, File: v.File, Trusted: v.Approved, Error: newFaultObject(v.Fault),
	}
	if m := v.Meta; m != nil {
		o.Description, o.WhenToUse, o.Args = m.Description, m.WhenToUse, len(m.Args) > 0
		for _, phase := range m.Phases {
			o.Phases = append(o.Phases, phase.Title)
		}
	}
	return o
}

func lsAction(c *cli.Context, env cmdline.Env) error {
	p, _, err := openWithScripts(c, env, 0, 0)
	if err != nil {
		return err
	}
	const verb = "workflow ls"
	named, err := plan.OpenLibrary(p).FindAll(verb, nil)
	if err != nil {
		return err
	}
	all, err := plan.OpenLibrary(p).CheckAll(c.Context, verb, named)
	if err != nil {
		return err
	}
	o := workflowsObject{Schema: "swarm.workflows/1", Workflows: []workflowObject{}}
	for _, v := range all {
		o.Workflows = append(o.Workflows, newWorkflowObject(v))
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, o)
	}
	return printWorkflows(p, o.Workflows)
}

func printWorkflows(p *cmdline.Place, all []workflowObject) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(p.Env.Stderr, "no workflow is saved here; `%s workflow save NAME FILE` saves one\n", p.Env.Calls)
		return err
	}
	t := terminal.Table{Columns: []terminal.Column{
		{Title: "NAME"}, {Title: "ARGS"}, {Title: "TRUSTED"}, {Title: "FILE"}, {Title: "DESCRIPTION", Flex: true},
	}}
	for _, w := range all {
		about := w.Description
		if len(w.Phases) > 0 {
			about = strings.TrimSpace(about + " (" + strings.Join(w.Phases, ", ") + ")")
		}
		if w.Error != nil {
			about = "broken: " + strings.TrimPrefix(w.Error.Where+": ", ": ") + w.Error.Message
		}
		t.Row(w.Name, cmdline.YesOrNo(w.Args), cmdline.YesOrNo(w.Trusted), w.File, about)
	}
	width, _ := terminal.Detect(p.Env.Stdout, p.Env.Getenv).Size()
	return t.Print(p.Env.Stdout, width)
}

func newValidateCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check scripts without running them",
		ArgsUsage: "[FILE | NAME…]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "trust", Usage: "approve their text, as run --trust"},
			cmdline.JSONFlag(),
		},
		Description: `Reads scripts as run would before it starts anything: their syntax, their meta,
the project's own functions in .swarm/lib, and the functions that are taken by
their text. Each is a file or a saved workflow; without any it is all that are
saved. Prints a line for each, with file, line and column and the line itself
where something is wrong, and ends with exit code 2 if anything is. Warns of keys
of meta that are not known, and of each type of agent, and each call, whose tools
or effort the agent does not support.

Examples:
  swarm workflow validate plan.js
  swarm workflow validate
  swarm workflow validate review --trust`,
		Action: func(c *cli.Context) error { return validateAction(c, env) },
	}
}

// validatedObject is swarm.validated/1, described in docs/json.md.
type validatedObject struct {
	Schema    string            `json:"schema"`
	OK        bool              `json:"ok"`
	Workflows []validatedScript `json:"workflows"`
	// Warnings are about tools and efforts that agents cannot be told.
	Warnings []string `json:"warnings,omitempty"`
}

type validatedScript struct {
	workflowObject
	OK       bool     `json:"ok"`
	Warnings []string `json:"warnings,omitempty"`
}

func validateAction(c *cli.Context, env cmdline.Env) error {
	p, words, err := openWithScripts(c, env, 0, -1)
	if err != nil {
		return err
	}
	const verb = "workflow validate"
	named, err := plan.OpenLibrary(p).FindAll(verb, words)
	if err != nil {
		return err
	}
	all, err := plan.OpenLibrary(p).CheckAll(c.Context, verb, named)
	if err != nil {
		return err
	}
	o := validatedObject{Schema: "swarm.validated/1", OK: true, Workflows: []validatedScript{}}
	if o.Warnings, err = plan.VetTools(c.Context, p, all); err != nil {
		return err
	}
	for _, v := range all {
		o.OK = o.OK && v.Fault == nil
	}
	if o.OK && c.Bool("trust") {
		if err := approveTexts(p, all); err != nil {
			return err
		}
	}
	for _, v := range all {
		o.Workflows = append(o.Workflows, validatedScript{newWorkflowObject(v), v.Fault == nil, v.Warnings})
	}
	if c.Bool("json") {
		err = cmdline.PrintJSON(env.Stdout, o)
	} else {
		err = printValidated(p, all)
		for _, line := range o.Warnings {
			fmt.Fprintf(env.Stderr, "warning: %s\n", termtext.Line(line))
		}
	}
	if err == nil && !o.OK {
		return &exit.Error{Code: exit.Usage}
	}
	return err
}

// approveTexts approves scripts that the user has read.
func approveTexts(p *cmdline.Place, all []library.Checked) error {
	if err := p.Personal("approving commands"); err != nil {
		return err
	}
	var items []config.Item
	for i := range all {
		if all[i].Item != nil {
			items, all[i].Approved = append(items, *all[i].Item), true
		}
	}
	return p.Trust().Approve(items)
}

func printValidated(p *cmdline.Place, all []library.Checked) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(p.Env.Stderr, "no workflow is saved here; name a file")
		return err
	}
	for _, v := range all {
		text := "ok: " + termtext.Line(v.File)
		switch {
		case v.Fault != nil:
			text = faultText(v.Fault)
		case !v.Approved:
			text += fmt.Sprintf(" (not approved yet: `%s workflow validate %s --trust`)", p.Env.Calls, termtext.Line(v.Name))
		}
		for _, warning := range v.Warnings {
			text += "\n    warning: " + termtext.Line(warning)
		}
		if _, err := fmt.Fprintln(p.Env.Stdout, text); err != nil {
			return err
		}
	}
	return nil
}

// faultText is the error of a script for people, with the line itself below.
func faultText(err error) string {
	text := termtext.Line(err.Error())
	var e *library.Error
	if errors.As(err, &e) && e.Excerpt() != "" {
		text += "\n    " + termtext.Line(e.Excerpt())
	}
	return text
}

func newTypesCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "types",
		Usage: "print the types of scripts, for editors",
		Description: `Prints the file swarm.d.ts: every function, option and result that a script
sees, for an editor that completes and checks scripts.

Examples:
  swarm workflow types > .swarm/workflows/swarm.d.ts`,
		Action: func(c *cli.Context) error {
			if _, err := cmdline.Arguments(c, 0, 0); err != nil {
				return err
			}
			_, err := io.WriteString(env.Stdout, script.Types())
			return err
		},
	}
}

// openWithScripts opens the place of a command whose arguments, from least to
// most of them, are scripts.
func openWithScripts(c *cli.Context, env cmdline.Env, least, most int) (*cmdline.Place, []string, error) {
	words, err := cmdline.Arguments(c, least, most)
	if err != nil {
		return nil, nil, err
	}
	p, err := cmdline.Open(c, env)
	return p, words, err
}

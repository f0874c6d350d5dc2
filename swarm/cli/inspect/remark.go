package inspect

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/review"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/review/verdict"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewRemarkCommand returns the command `swarm remark`.
func NewRemarkCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "remark",
		Usage:     "note remarks on edits, for a retry",
		ArgsUsage: "[RUN | AGENT…] [TEXT]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "note TEXT on the changed lines at `FILE:LINE`"},
			&cli.StringFlag{Name: "class", Usage: "note TEXT on class `C`, for each agent that has it"},
			&cli.IntFlag{Name: "drop", Usage: "withdraw draft `N`"},
			cmdline.JSONFlag(),
		},
		Description: `Keeps a remark on an edit with the run. It is a draft until a retry of the agent: that
sends all drafts of the agent, each with its place and lines. A remark stays with its
edit in later attempts, also in a moved file. Without TEXT, prints the remarks.

Examples:
  swarm remark a3 --at main.go:12 "keep the exported name"
  swarm remark --class C3 "use the helper of package text"
  swarm remark a3 --drop 2
  swarm remark
  swarm retry --remarks`,
		Action: func(c *cli.Context) error { return remarkAction(c, env) },
	}
}

// remarksObject is swarm.remarks/1, described in docs/json.md.
type remarksObject struct {
	Schema  string         `json:"schema"`
	Run     string         `json:"run"`
	Remarks []remarkObject `json:"remarks"`
}

func remarkAction(c *cli.Context, env cmdline.Env) error {
	addresses, text, err := remarkArguments(c)
	if err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if text != "" && len(addresses) == 0 && names(p, text) {
		return exit.Usagef("remark: the text of the remark is missing: %s is an address", text)
	}
	s, err := selection.Run(c.Context, p, addresses)
	if err != nil {
		return err
	}
	switch {
	case c.IsSet("drop"):
		err = dropRemark(p, c, s)
	case text != "":
		err = addRemarks(p, c, s, text)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") || text == "" && !c.IsSet("drop") {
		return printRemarks(p, c, s)
	}
	return nil
}

// remarkArguments are the addresses and the text of a remark; an empty text where
// none is made.
func remarkArguments(c *cli.Context) (addresses []string, text string, err error) {
	args := c.Args().Slice()
	makes := c.IsSet("at") || c.IsSet("class")
	switch {
	case c.IsSet("at") && c.IsSet("class") || makes && c.IsSet("drop"):
		return nil, "", exit.Usagef("remark: --at, --class and --drop exclude each other")
	case !makes:
		return args, "", nil
	case len(args) == 0 || strings.TrimSpace(args[len(args)-1]) == "":
		return nil, "", exit.Usagef("remark: the text of the remark is missing")
	}
	text = args[len(args)-1]
	return args[:len(args)-1], text, cmdline.CheckMessage("remark: the text", text)
}

// names reports whether a text is the address of an agent or the whole id of a run.
func names(p *cmdline.Place, text string) bool {
	a, _, err := patch.Resolve(p.State, text)
	return err == nil && (a.Agent != "" || a.Run != nil && a.Run.ID == text)
}

// addRemarks notes a remark on a place, or on each agent with an edit of a class.
func addRemarks(p *cmdline.Place, c *cli.Context, s *selection.Selection, text string) error {
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	var only []task.ID
	for _, a := range s.Named {
		only = append(only, a.ID)
	}
	var made []event.Remarked
	if c.IsSet("class") {
		class, err := findClass(r, s, "remark", c.String("class"))
		if err != nil {
			return err
		}
		if made = r.OnClass(class, only, text); len(made) == 0 {
			return exit.Usagef("remark: no agent that is named has an edit of %s", class.ID)
		}
	} else {
		at, err := verdict.ParseAt(c.String("at"))
		if err != nil {
			return exit.Usagef("remark: --at: %v", err)
		}
		at.Path = r.FilePath(p.Repo.Prefix, at.Path)
		one, err := r.NewRemark(at, only, text)
		if err != nil {
			return exit.Usagef("remark: %v", err)
		}
		made = []event.Remarked{one}
	}
	for i := range made {
		made[i].ID = s.View.Agent(made[i].Agent).NextRemark()
	}
	if err := recordVerdicts(p, c, s, engine.ReviewRequest{Remarks: made}); err != nil || c.Bool("json") {
		return err
	}
	for _, m := range made {
		fmt.Fprintf(p.Env.Stdout, "remark %d on %s/%s, %s\n", m.ID, s.Run.ID, m.Agent, termtext.Line(review.Place{Path: m.Edit.Path, Line: m.Line}.String()))
	}
	fmt.Fprintf(p.Env.Stdout, "send all drafts with: %s retry %s --remarks\n", p.Env.Calls, s.Run.ID)
	return nil
}

// dropRemark withdraws a draft.
func dropRemark(p *cmdline.Place, c *cli.Context, s *selection.Selection) error {
	if len(s.Named) != 1 {
		return exit.Usagef("remark: --drop needs the name of one agent")
	}
	a, n := s.Named[0], c.Int("drop")
	for _, r := range a.Drafts() {
		if r.ID == n {
			return recordVerdicts(p, c, s, engine.ReviewRequest{Remarks: []event.Remarked{{ID: n, Agent: a.ID, Attempt: a.Attempt, Edit: r.Edit}}})
		}
	}
	return exit.Usagef("remark: %s has no draft %d; `%s remark %s/%s` prints its remarks", a.ID, n, cmdline.Program, s.Run.ID, a.ID)
}

// printRemarks prints the remarks on the agents that are named, or of the run.
func printRemarks(p *cmdline.Place, c *cli.Context, s *selection.Selection) error {
	view, err := s.Run.View()
	if err != nil {
		return err
	}
	o := &remarksObject{Schema: "swarm.remarks/1", Run: s.Run.ID, Remarks: []remarkObject{}}
	t := &reviewText{s: s, term: terminal.Detect(p.Env.Stdout, p.Env.Getenv)}
	for _, a := range s.Agents() {
		for _, r := range view.Agent(a.ID).OnEdits {
			o.Remarks = append(o.Remarks, newRemarkObject(r))
			if !c.Bool("json") {
				t.remark(p.Env.Stdout, "", "", r)
			}
		}
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, o)
	}
	if len(o.Remarks) == 0 {
		fmt.Fprintf(p.Env.Stderr, "no remarks on agents of run %s\n", s.Run.ID)
	}
	return nil
}

// Drafts are the remarks that a retry sends to an agent.
type Drafts struct {
	Text string
	IDs  []int
}

// DraftsOf returns the drafts for the named agents, with their present places. It returns an error
// if the review of the run cannot be read.
func DraftsOf(p *cmdline.Place, c *cli.Context, s *selection.Selection) (map[task.ID]Drafts, error) {
	all := map[task.ID]Drafts{}
	var r *collect.Review
	for _, a := range s.Named {
		open := a.Drafts()
		if len(open) == 0 || task.Prompt(a.Call.Input) == "" {
			continue
		}
		if r == nil {
			var err error
			if r, err = ReviewOfRun(c.Context, p, s); err != nil {
				return nil, err
			}
		}
		d := Drafts{Text: r.Feedback(open)}
		for _, remark := range open {
			d.IDs = append(d.IDs, remark.ID)
		}
		if err := cmdline.CheckMessage("retry: the feedback with the remarks on "+string(a.ID), d.Text); err != nil {
			return nil, err
		}
		all[a.ID] = d
	}
	return all, nil
}

// PickDrafts keeps the agents with drafts that can be tried again. It returns a NoWorkError if there
// are none.
func PickDrafts(s *selection.Selection) error {
	var with []*store.Agent
	for _, a := range s.Agents() {
		if len(a.Drafts()) > 0 && a.Result() != nil && !a.Landed() && task.Prompt(a.Call.Input) != "" {
			with = append(with, a)
		}
	}
	if len(with) == 0 {
		return &selection.NoWorkError{Text: fmt.Sprintf("retry: no agent of run %s has a remark that was not sent", s.Run.ID)}
	}
	s.Named = with
	return nil
}

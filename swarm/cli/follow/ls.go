package follow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewLsCommand returns the command `swarm ls`.
func NewLsCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:    "ls",
		Aliases: []string{"ps"},
		Usage:   "list the runs of this repository",
		Flags: []cli.Flag{
			everywhereFlag("list the runs of all repositories on this machine"),
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "update the list until Ctrl-C"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print ids only"},
			cmdline.JSONFlag(),
		},
		Description: `Lists runs, the latest last: their status, and how many of their agents completed,
landed or need you.

With --watch the list is updated in place; without a terminal, each run that changed
is a line. With --watch --json, the whole list is printed as one object a line, now
and after each change.

With --all each run has its repository and its open questions. Continue there with
swarm -C REPOSITORY attach, show or inbox.

Examples:
  swarm ls
  swarm ls --watch
  swarm ls --all
  swarm ls -q
  swarm ls --json`,
		Action: func(c *cli.Context) error { return lsAction(c, env) },
	}
}

const (
	listSchema = "swarm.list/1"
	damaged    = "damaged" // the status of a run whose record cannot be read
)

// listObject is swarm.list/1, described in docs/json.md.
type listObject struct {
	Schema string         `json:"schema"`
	Runs   []listedObject `json:"runs"`
}

type listedObject struct {
	// Repository, Gone and Questions are set by --all.
	Repository string `json:"repository,omitempty"` // its folder
	Gone       bool   `json:"gone,omitempty"`       // the folder is not there any more
	Questions  int    `json:"questions,omitempty"`  // that are open

	Run       string    `json:"run"`
	Status    string    `json:"status"`
	Reason    string    `json:"reason,omitempty"`
	Workflow  string    `json:"workflow,omitempty"`
	Args      []string  `json:"args,omitempty"`
	Base      string    `json:"base,omitempty"`
	Created   time.Time `json:"created"`
	Duration  int64     `json:"duration_ms,omitempty"`
	Agents    int       `json:"agents"`
	Completed int       `json:"completed"`
	Failed    int       `json:"failed"`
	Cancelled int       `json:"cancelled"`
	Landed    int       `json:"landed"`
	Waiting   int       `json:"waiting"`

	// Recovery is set if the owner of the run died and the run was not
	// recovered.
	Recovery *view.RecoveryObject `json:"recovery,omitempty"`

	view *store.View // that Duration is read from; nil where it is not known
}

// status is where the run is and why, for a person.
func (o listedObject) status() string {
	if o.Reason == "" {
		return o.Status
	}
	// The error of a script may be long; status has all of it.
	return o.Status + " (" + terminal.ShortenEnd(termtext.Line(o.Reason), whatWidth) + ")"
}

func lsAction(c *cli.Context, env cmdline.Env) error {
	if c.Bool("all") {
		return allRuns(c, env, func(listedObject) bool { return true }, "no repository has a run")
	}
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if c.Bool("watch") {
		if c.Bool("quiet") {
			return exit.Usagef("ls: --watch and --quiet exclude each other")
		}
		return watchList(c.Context, p, c.Bool("json"))
	}
	entries, err := p.State.Runs()
	if err != nil {
		return err
	}
	list := listObject{Schema: listSchema, Runs: []listedObject{}}
	for _, e := range entries {
		list.Runs = append(list.Runs, listed(c.Context, p, e))
	}
	switch {
	case c.Bool("json"):
		return cmdline.PrintJSON(env.Stdout, list)
	case c.Bool("quiet"):
		for _, r := range list.Runs {
			if _, err := fmt.Fprintln(env.Stdout, r.Run); err != nil {
				return err
			}
		}
		return nil
	case len(list.Runs) == 0:
		return sayNone(env, "this repository has no run yet")
	}
	return printRuns(env, list.Runs)
}

// sayNone tells a person that a list is empty. Standard output stays empty.
func sayNone(env cmdline.Env, text string) error {
	_, err := fmt.Fprintln(env.Stderr, text)
	return err
}

// listed sums a run up. A run that cannot be read is listed as damaged and
// never hides the others.
func listed(ctx context.Context, p *cmdline.Place, e store.Entry) listedObject {
	if e.Damage != nil {
		return damagedRun(e, e.Damage)
	}
	v, err := session.View(ctx, p, e.Run)
	if err != nil {
		return damagedRun(e, err)
	}
	return newListed(v)
}

// damagedRun is a run that cannot be read.
func damagedRun(e store.Entry, why error) listedObject {
	return listedObject{Run: e.Run.ID, Created: e.Identity.Created, Status: damaged, Reason: why.Error()}
}

// newListed sums up the view of a run.
func newListed(v *store.View) listedObject {
	counts := v.Counts()
	o := listedObject{
		Run: v.Identity.Run, Created: v.Identity.Created, Status: string(v.ShownStatus()), Reason: v.Reason, Args: v.Identity.Args,
		Workflow: string(v.Identity.Workflow.Kind), Base: v.Identity.Base.Commit, Recovery: view.NewRecoveryObject(v),
		Agents: len(v.Agents), Completed: counts.Completed, Failed: counts.Failed, Cancelled: counts.Cancelled,
		Waiting: counts.Of[task.Waiting], view: v, Duration: v.Took(time.Now()).Milliseconds(),
	}
	for _, a := range v.Agents {
		if a.Landed() {
			o.Landed++
		}
	}
	return o
}

// whatWidth bounds how much of a command line, and of a reason, the list shows.
const whatWidth = 60

func printRuns(env cmdline.Env, runs []listedObject) error {
	term := terminal.Detect(env.Stdout, env.Getenv)
	width, _ := term.Size()
	return runTable(term, runs).Print(env.Stdout, width)
}

// runTable is the list for a person. The number of agents that need a person
// has a column if it is above zero for any run.
func runTable(term terminal.Output, runs []listedObject) *terminal.Table {
	t := &terminal.Table{Term: term, Columns: []terminal.Column{
		{Title: "RUN"}, {Title: "STATUS", Flex: true, Style: terminal.StateStyle}, {Title: "AGENTS", Right: true},
		{Title: "COMPLETED", Right: true}, {Title: "FAILED", Right: true},
		{Title: "LANDED", Right: true}, {Title: "TIME", Right: true}, {Title: "BEGAN"},
		{Title: "WHAT", Flex: true},
	}}
	const afterAgents = 3
	needed := slices.ContainsFunc(runs, func(o listedObject) bool { return o.Waiting > 0 })
	if needed {
		t.Columns = slices.Insert(t.Columns, afterAgents, terminal.Column{Title: "NEEDS YOU", Right: true})
	}
	now := time.Now()
	for _, r := range runs {
		cells := []string{
			r.Run, r.status(), fmt.Sprint(r.Agents), fmt.Sprint(r.Completed), fmt.Sprint(r.Failed),
			fmt.Sprint(r.Landed), termtext.Duration(time.Duration(r.Duration) * time.Millisecond), termtext.Ago(now, r.Created),
			terminal.ShortenEnd(termtext.Line(strings.Join(r.Args, " ")), whatWidth),
		}
		if needed {
			cells = slices.Insert(cells, afterAgents, fmt.Sprint(r.Waiting))
		}
		t.Row(cells...)
	}
	return t
}

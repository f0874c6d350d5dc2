package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/store"
)

func newLsCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:    "ls",
		Aliases: []string{"ps"},
		Usage:   "list the runs of this repository",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print ids only"},
			jsonFlag(),
		},
		Description: `Lists runs, the latest last, with their status and how many of their agents
completed and landed.

Examples:
  swarm ls
  swarm ls -q
  swarm ls --json`,
		Action: func(c *cli.Context) error { return lsAction(c, env) },
	}
}

// listObject is swarm.list/1, described in docs/json.md.
type listObject struct {
	Schema string         `json:"schema"`
	Runs   []listedObject `json:"runs"`
}

type listedObject struct {
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
}

func lsAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	entries, err := p.state.Runs()
	if err != nil {
		return err
	}
	list := listObject{Schema: "swarm.list/1", Runs: []listedObject{}}
	for _, e := range entries {
		list.Runs = append(list.Runs, p.listed(c, e))
	}
	switch {
	case c.Bool("json"):
		return printJSON(env.Stdout, list)
	case c.Bool("quiet"):
		for _, r := range list.Runs {
			if _, err := fmt.Fprintln(env.Stdout, r.Run); err != nil {
				return err
			}
		}
		return nil
	case len(list.Runs) == 0:
		return nil
	}
	return printRuns(env, list.Runs)
}

// listed sums a run up. One that cannot be read is listed as damaged and
// never hides the others.
func (p *place) listed(c *cli.Context, e store.Entry) listedObject {
	o := listedObject{Run: e.Run.ID, Created: e.Identity.Created, Status: "damaged"}
	if e.Damage != nil {
		o.Reason = e.Damage.Error()
		return o
	}
	v, err := p.settle(c.Context, e.Run)
	if err != nil {
		o.Reason = err.Error()
		return o
	}
	o.Status, o.Reason, o.Args = string(v.Status), v.Reason, v.Identity.Args
	o.Workflow, o.Base = string(v.Identity.Workflow.Kind), v.Identity.Base.Commit
	counts := countAgents(v)
	o.Agents, o.Completed = len(v.Agents), counts.Completed
	o.Failed, o.Cancelled = counts.Failed, counts.Cancelled
	for _, a := range v.Agents {
		if len(a.Landings) > 0 {
			o.Landed++
		}
	}
	end := v.Ended
	if end.IsZero() {
		end = time.Now()
	}
	o.Duration = end.Sub(v.Began).Milliseconds()
	return o
}

// whatWidth bounds how much of a command line the list shows.
const whatWidth = 60

func printRuns(env Env, runs []listedObject) error {
	t := Table{Columns: []Column{
		{Title: "RUN"}, {Title: "STATUS", Flex: true}, {Title: "AGENTS", Right: true},
		{Title: "COMPLETED", Right: true}, {Title: "FAILED", Right: true},
		{Title: "LANDED", Right: true}, {Title: "TIME", Right: true}, {Title: "BEGAN"},
		{Title: "WHAT", Flex: true},
	}}
	now := time.Now()
	for _, r := range runs {
		status := r.Status
		if r.Reason != "" {
			status += " (" + r.Reason + ")"
		}
		t.Row(r.Run, status, fmt.Sprint(r.Agents), fmt.Sprint(r.Completed), fmt.Sprint(r.Failed),
			fmt.Sprint(r.Landed), Duration(time.Duration(r.Duration)*time.Millisecond), Ago(now, r.Created),
			shortenEnd(Printable(strings.Join(r.Args, " ")), whatWidth))
	}
	width, _ := detect(env.Stdout, env.Getenv).Size()
	return t.Print(env.Stdout, width)
}

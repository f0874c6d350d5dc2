package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/store"
)

func newStatusCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show a run: its agents, what they changed, what landed",
		ArgsUsage: "[RUN | AGENT]",
		Flags:     []cli.Flag{jsonFlag()},
		Description: `Shows what became of each agent of a run; without an address of the latest.

Ended, verified and landed are three separate facts, and each has its column.
The exit code is 0 whatever became of the run, as long as it can be told.

Examples:
  swarm status
  swarm status k3x9q2
  swarm status k3x9q2/a7
  swarm status --json`,
		Action: func(c *cli.Context) error { return statusAction(c, env) },
	}
}

func statusAction(c *cli.Context, env Env) error {
	p, s, err := openSelection(c, env, 0, 1)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env.Stdout, newRunObject(s.view, time.Now()).only(s.named))
	}
	v := *s.view
	v.Agents = s.agents()
	return p.printStatus(&v, s.view)
}

// printStatus prints a view of some agents of a run, or of all, and what the
// whole run has spent.
func (p *place) printStatus(v, whole *store.View) error {
	w, now := p.env.Stdout, time.Now()
	id := v.Identity
	fmt.Fprintf(w, "run %s %s, %s on base %s, began %s, took %s\n", id.Run, statusText(v),
		Count(len(v.Agents), "agent", "agents"), git10(id.Base.Commit), Ago(now, id.Created),
		Duration(v.Took(now)))
	if e := threw(v); e != nil && e.Err.Where != "" {
		fmt.Fprintf(w, "  at %s\n", Printable(strings.TrimSuffix(e.Err.Where+": "+e.Excerpt(), ": ")))
	}
	if spent := spentLine(whole, now); spent != "" {
		fmt.Fprintln(w, spent)
	}
	width, _ := detect(w, p.env.Getenv).Size()
	if err := printTable(w, width, v, now); err != nil {
		return err
	}
	printCauses(w, v, noLimit)
	printNotes(w, v, maxNotes)
	p.printAsked(w, v)
	for _, l := range v.Landings {
		if l.Verb == verbUndo {
			continue // what it took back says so
		}
		fmt.Fprintln(w, landingText(l))
	}
	if whole.Status == store.RunPaused {
		v = whole // its resume is all of its agents'
	}
	p.printNext(w, v)
	return nil
}

// landingText is one merge or apply in a line.
func landingText(l *store.Landing) string {
	what := fmt.Sprintf("%s %d: %s", l.Verb, l.ID, Count(len(l.Agents), "patch", "patches"))
	if l.Verb == verbMerge {
		what += " on " + Printable(branchName(l.Ref)) + " " + git10(l.New)
		if n := len(l.Conflicts); n > 0 {
			what += ", " + Count(n, "conflict", "conflicts")
		}
	}
	switch {
	case l.Outcome == nil:
		return what + ", not known to have ended"
	case !l.Outcome.OK:
		return what + ", did not happen: " + Printable(l.Outcome.Reason)
	case l.Undone:
		return what + ", undone"
	default:
		return what
	}
}

package follow

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
)

// NewStatusCommand returns the command `swarm status`.
func NewStatusCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show a run: its agents, their changes, landed patches",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			everywhereFlag("list the unfinished runs of all repositories on this machine"),
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "update the table until the run has ended"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print the addresses of agents only"},
			cmdline.JSONFlag(),
		}, selection.SelectorFlags()...),
		Description: `Shows each agent of a run: its result, its changes, and whether they landed. Without
an address it shows the latest run.

Ended, verified and landed are three separate facts, and each has its column.
The exit code does not depend on the result of the run: 0 if it can be read.

Examples:
  swarm status
  swarm status k3x9q2
  swarm status k3x9q2/a7
  swarm status --watch
  swarm status --all
  swarm status --failed -q | swarm retry -
  swarm status --json`,
		Action: func(c *cli.Context) error { return statusAction(c, env) },
	}
}

func statusAction(c *cli.Context, env cmdline.Env) error {
	if c.Bool("all") {
		return allRuns(c, env, unfinished, "no repository has an unfinished run; `"+cmdline.Program+" ls --all` lists the others")
	}
	if c.Bool("quiet") && (c.Bool("json") || c.Bool("watch")) {
		return exit.Usagef("status: --quiet goes with neither --json nor --watch")
	}
	p, s, err := selection.Open(c, env, 0, -1)
	if err != nil {
		return err
	}
	switch {
	case c.Bool("watch"):
		return watchStatus(c.Context, p, s, c.Bool("json"))
	case c.Bool("quiet"):
		return printAddresses(env.Stdout, s)
	}
	if reader := activityOf(p, s.Run, s.View.Identity); reader != nil {
		view.AddRetries(s.View, reader.Retry)
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, selectionObject(s))
	}
	return printStatus(p, s)
}

// selectionObject is a selection as status prints it with --json.
func selectionObject(s *selection.Selection) view.RunObject {
	o := view.NewRunObject(s.View, time.Now())
	if len(s.Agents()) == 0 && !s.Chosen.Empty() {
		o.Agents = []view.AgentObject{}
		return o
	}
	return o.Only(s.Named)
}

// printAddresses prints the address of each agent on a line, as other commands
// take them.
func printAddresses(w io.Writer, s *selection.Selection) error {
	for _, a := range s.Agents() {
		if _, err := fmt.Fprintf(w, "%s/%s\n", s.Run.ID, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// printStatus prints the selected agents of a run, and the costs of the whole run.
func printStatus(p *cmdline.Place, s *selection.Selection) error {
	whole, some := s.View, *s.View
	some.Agents = s.Agents()
	v := &some
	w, now := p.Env.Stdout, time.Now()
	id := v.Identity
	term := terminal.Detect(w, p.Env.Getenv)
	fmt.Fprintf(w, "run %s %s, %s on base %s, began %s, took %s\n", id.Run, term.State(view.StatusText(v)),
		partCount(len(v.Agents), len(whole.Agents)), view.Git10(id.Base.Commit), termtext.Ago(now, id.Created),
		termtext.Duration(v.Took(now)))
	if e := view.Thrown(v); e != nil && e.Err.Where != "" {
		fmt.Fprintf(w, "  at %s\n", termtext.Line(strings.TrimSuffix(e.Err.Where+": "+e.Excerpt(), ": ")))
	}
	if spent := spending.Line(whole, now); spent != "" {
		fmt.Fprintln(w, spent)
	}
	for _, line := range view.QuotaLines(whole, now) {
		fmt.Fprintln(w, termtext.Line(line))
	}
	width, _ := term.Size()
	if err := view.PrintTable(w, view.TableSize{Width: width, Terminal: term}, v, now); err != nil {
		return err
	}
	view.PrintCauses(w, v, view.NoLimit)
	view.PrintNotes(w, v, view.MaxNotes)
	printAsked(p, w, v)
	for _, l := range v.Landings {
		if l.Verb == session.VerbUndo {
			continue // the line of its undo reports it
		}
		fmt.Fprintln(w, landingText(l))
	}
	view.PrintNext(p, w, whole)
	return nil
}

// partCount counts the agents that are shown of those there are.
func partCount(some, all int) string {
	if some == all {
		return termtext.Count(all, "agent", "agents")
	}
	return termtext.Number(some) + " of " + termtext.Count(all, "agent", "agents")
}

// landingText is a merge or an apply in a line.
func landingText(l *store.Landing) string {
	what := fmt.Sprintf("%s %d: %s", l.Verb, l.ID, termtext.Count(len(l.Agents), "patch", "patches"))
	if l.Verb == session.VerbMerge {
		what += " on " + termtext.Line(lander.BranchName(l.Ref)) + " " + view.Git10(l.New)
		if n := len(l.Conflicts); n > 0 {
			what += ", " + termtext.Count(n, "conflict", "conflicts")
		}
	}
	switch {
	case l.Outcome == nil:
		return what + ", not known to have ended"
	case !l.Outcome.OK:
		return what + ", did not happen: " + termtext.Line(l.Outcome.Reason)
	case l.Undone:
		return what + ", undone"
	default:
		return what
	}
}

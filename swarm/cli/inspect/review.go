package inspect

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewAcceptCommand returns the command `swarm accept`.
func NewAcceptCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "accept",
		Usage:     "accept patches: merge takes them",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "reason, kept with the run"},
			&cli.BoolFlag{Name: "part", Usage: "make a patch of its own of the accepted edits"},
			cmdline.JSONFlag(),
		}, append(spreadFlags(), selection.EndedFlags()...)...),
		Description: `Marks the patches of agents as accepted. A merge then takes them, even if the agent
or its check failed, or if it changed files outside its paths. Among alternatives it
takes the accepted one. A new attempt has no mark.

With --class or --file only those edits are accepted; a patch is accepted once all its
edits are. Verdicts on edits hold for the same edits of later attempts. Without names
of agents, edits with a verdict and files with a mark are left out.

With --part the accepted edits of a patch become a patch of their own, such as a3-1,
after the edits of --class, --file or --hunk, if any, are accepted. No check has run
on it; merge takes it by its name.

Examples:
  swarm accept a3
  swarm accept k3x9q2/a3 --reason "the failing test is flaky"
  swarm accept --verified
  swarm accept k3x9q2 --class C3
  swarm accept a3 --hunk main.go:12 --part`,
		Action: func(c *cli.Context) error { return reviewAction(c, env, task.Accepted) },
	}
}

// NewRejectCommand returns the command `swarm reject`.
func NewRejectCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "reject",
		Usage:     "reject patches: merge leaves them out",
		ArgsUsage: "[RUN | AGENT… | -]",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "reason, which retry gives to the agent"},
			cmdline.JSONFlag(),
		}, append(spreadFlags(), selection.EndedFlags()...)...),
		Description: `Marks the patches of agents as rejected. No merge takes them, named or not, until
they are accepted or retried. The patches are kept. With --class or --file only those
edits are rejected, and a retry names their places to the agents.

Examples:
  swarm reject a3 --reason "do not touch the generated files"
  swarm retry a3`,
		Action: func(c *cli.Context) error { return reviewAction(c, env, task.Rejected) },
	}
}

func reviewAction(c *cli.Context, env cmdline.Env, verdict task.Verdict) error {
	name := c.Command.Name
	if err := cmdline.CheckMessage(name+": --reason", c.String("reason")); err != nil {
		return err // a retry tells it to the agent
	}
	least := 1
	if spreads(c) {
		least = 0 // a class or a file is of the latest run
	}
	p, s, err := selection.Open(c, env, least, -1)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 && !s.OnlyAgents() {
		return exit.Usagef("%s: name a run, or agents of it, not both", name)
	}
	if c.Bool("part") && len(s.Named) == 0 {
		return exit.Usagef("%s: --part needs the names of agents", name)
	}
	if c.Bool("part") && c.Bool("json") {
		return exit.Usagef("%s: --part and --json exclude each other", name)
	}
	if spreads(c) {
		if err := spreadAction(c, p, s, verdict); err != nil || !c.Bool("part") {
			return err
		}
	}
	if c.Bool("part") {
		return partAction(p, c, s)
	}
	byName := s.Chosen.Empty() && len(s.Named) > 0
	s.Keep(func(a *store.Agent) bool {
		return a.Patch() != nil && !a.Landed() && (verdict == task.Rejected || !landing.Declined(a))
	})
	if err := s.NonePicked(name); err != nil {
		return err
	}
	s.Named = selection.Distinct(s.Named)
	marks, err := wholeMarks(c, s, verdict, byName)
	if err != nil {
		return err
	}
	if len(marks) == 0 {
		return exit.Usagef("%s: no agent of run %s has a patch that could be", name, s.Run.ID)
	}
	edits, unread, err := wholeEdits(c.Context, p, s, marks)
	if err != nil {
		return err
	}
	if err := recordVerdicts(p, c, s, engine.ReviewRequest{Marks: marks, Edits: edits}); err != nil {
		return err
	}
	printUnread(p, unread)
	return printReview(p, c, s, marks)
}

// wholeMarks are the verdicts on the whole patches of the agents that are named, or
// of those of the run that can have it.
func wholeMarks(c *cli.Context, s *selection.Selection, verdict task.Verdict, byName bool) ([]event.Reviewed, error) {
	var marks []event.Reviewed
	for _, a := range s.Agents() {
		why := ""
		switch {
		case a.Patch() == nil:
			why = lander.NoPatch(a)
		case verdict == task.Rejected && len(a.Landings) > 0:
			why = fmt.Sprintf("the patch of %s has landed; undo that first", a.ID)
		case verdict == task.Accepted && !byName && landing.Declined(a):
			continue
		}
		if why == "" {
			marks = append(marks, event.Reviewed{
				Agent: a.ID, Attempt: a.Attempt, Verdict: verdict, Reason: c.String("reason"),
			})
		} else if len(s.Named) > 0 {
			return nil, exit.Usagef("%s: %s", c.Command.Name, why)
		}
	}
	return marks, nil
}

// recordVerdicts journals a review, or has the process do it that owns the run.
func recordVerdicts(p *cmdline.Place, c *cli.Context, s *selection.Selection, r engine.ReviewRequest) error {
	if s.View.Status == store.RunRunning {
		client, err := session.Reach(c.Context, p, s.Run)
		if err != nil {
			return err
		}
		return errors.Join(follow.WithExitCode(client.Ask(c.Context, &control.Review{Marks: r.Marks, Edits: r.Edits, Remarks: r.Remarks})), client.Close())
	}
	owner, err := session.Own(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	facts := r.Facts()
	v := owner.View()
	for _, f := range facts {
		// Another process may have tried it again since we looked.
		if a := v.Agent(f.Agent); a == nil || a.Attempt != f.Attempt || a.Result() == nil {
			return errors.Join(exit.Usagef("%s: %s has moved on; look at its new attempt first",
				c.Command.Name, f.Agent), owner.Close())
		}
	}
	_, err = owner.AppendAll(facts.Events())
	return errors.Join(err, owner.Close())
}

func printReview(p *cmdline.Place, c *cli.Context, s *selection.Selection, marks []event.Reviewed) error {
	v, err := s.Run.View()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(p.Env.Stdout, view.NewRunObject(v, time.Now()).Only(s.Named))
	}
	for _, mark := range marks {
		if _, err := fmt.Fprintf(p.Env.Stdout, "%s/%s %s\n", s.Run.ID, mark.Agent, mark.Verdict); err != nil {
			return err
		}
		if mark.Verdict == task.Accepted {
			view.SayMarked(p, v.Agent(mark.Agent))
		}
	}
	return nil
}

package follow

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewCancelCommand returns the command `swarm cancel`.
func NewCancelCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "cancel",
		Aliases:   []string{"stop", "kill"},
		Usage:     "end agents or a run; their work is captured",
		ArgsUsage: "RUN | AGENT… | -",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "reason", Usage: "reason, kept with the result"},
			selection.RunningFlag(),
			cmdline.JSONFlag(),
		},
		Description: `Ends the agents named: SIGTERM, and SIGKILL after two seconds. Their work is captured
as patches. A cancelled run can be resumed; resume does not start an agent again that
was cancelled by name. --running ends all agents that have not ended, but not the
run: its script continues.

Examples:
  swarm cancel a3
  swarm cancel k3x9q2/a3 k3x9q2/a4 --reason "wrong folder"
  swarm cancel k3x9q2
  swarm cancel --running --reason "wrong prompt"
  swarm status --running -q | swarm cancel -`,
		Action: func(c *cli.Context) error { return cancelAction(c, env) },
	}
}

func cancelAction(c *cli.Context, env cmdline.Env) error {
	p, s, err := selection.Open(c, env, 1, -1)
	if err != nil {
		return err
	}
	if len(s.Named) > 0 && !s.OnlyAgents() {
		return exit.Usagef("cancel: name a run, or agents of it, not both")
	}
	if err := s.NonePicked("cancel"); err != nil {
		return err
	}
	s.Named = selection.Distinct(s.Named)
	if s.View.Status == store.RunPaused {
		return exit.Usagef("cancel: run %s is paused: nothing of it runs; resume continues it, rm removes it", s.Run.ID)
	}
	if s.View.Status != store.RunRunning {
		return exit.Usagef("cancel: run %s has ended: %s", s.Run.ID, s.View.Status)
	}
	var ids []task.ID
	for _, a := range s.Named {
		if a.Result() != nil {
			return exit.Usagef("cancel: %s has ended: %s", a.ID, task.Word(a.Status))
		}
		ids = append(ids, a.ID)
	}
	if !c.Bool("json") {
		s.PrintLatest(env)
	}
	if err := askToEnd(p, c, s, ids); err != nil {
		return err
	}
	v, err := await(c.Context, p, s)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return cmdline.PrintJSON(env.Stdout, view.NewRunObject(v, time.Now()))
	}
	if len(ids) == 0 {
		_, err = fmt.Fprintf(env.Stdout, "run %s %s\n", s.Run.ID, view.StatusText(v))
		return err
	}
	return printWords(p, v, s.Named)
}

// askToEnd asks the process that owns the run.
func askToEnd(p *cmdline.Place, c *cli.Context, s *selection.Selection, ids []task.ID) error {
	client, err := session.Reach(c.Context, p, s.Run)
	if err != nil {
		return err
	}
	reason := c.String("reason")
	if len(ids) == 0 {
		if reason == "" {
			reason = "by `swarm cancel`"
		}
		err = client.Ask(c.Context, &control.Stop{Reason: reason})
	} else {
		err = client.Ask(c.Context, &control.Cancel{Agents: ids, Reason: reason})
	}
	return errors.Join(WithExitCode(err), client.Close())
}

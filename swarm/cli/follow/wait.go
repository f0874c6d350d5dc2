package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewWaitCommand returns the command `swarm wait`.
func NewWaitCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "wait",
		Usage:     "wait for the end of a run or of agents",
		ArgsUsage: "[RUN | AGENT…]",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "timeout", Usage: "give up after `TIME`, with exit code 124"},
			cmdline.JSONFlag(),
		},
		Description: `Follows the run on standard error, and ends with the output and the exit code of
run: 0 if all agents completed, 3 if agents failed, 7 if a check failed. Ctrl-C ends
the command, not the run.

Examples:
  swarm wait
  swarm wait k3x9q2 --timeout 10m
  swarm wait a3 a4`,
		Action: func(c *cli.Context) error { return waitAction(c, env) },
	}
}

// errWaited is the cause of a wait that took too long.
var errWaited = &exit.Error{Code: exit.Timeout, Err: errors.New("the timeout is over; the run continues")}

func waitAction(c *cli.Context, env cmdline.Env) error {
	addresses, err := cmdline.Arguments(c, 0, -1)
	if err != nil {
		return err
	}
	limit := c.Duration("timeout")
	if c.IsSet("timeout") && limit <= 0 {
		return exit.Usagef("wait: --timeout %s: want a duration above zero, such as 10m", limit)
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	s, err := selection.Run(c.Context, p, addresses)
	if err != nil {
		return err
	}
	ctx := c.Context
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errWaited)
		defer cancel()
	}
	v, err := await(ctx, p, s)
	if err != nil {
		return err
	}
	code, err := printWaited(p, s, v, c.Bool("json"))
	if err == nil && code != exit.OK {
		return &exit.Error{Code: code}
	}
	return err
}

// printWaited prints the result of a wait: a run as its own command prints it,
// agents in a line each.
func printWaited(p *cmdline.Place, s *selection.Selection, v *store.View, asJSON bool) (exit.Code, error) {
	named := s.Named
	if len(named) == 0 {
		err := view.PrintSummary(p, s.Run, v, nil)
		if e := view.Thrown(v); e != nil {
			cmdline.PrintError(p.Env, e)
		}
		return exit.Code(v.Code), errors.Join(err, view.PrintResult(p, v, asJSON))
	}
	code := exit.OK
	for _, a := range named {
		code = exit.First(code, waitedCode(v, v.Agent(a.ID)))
	}
	if asJSON {
		return code, cmdline.PrintJSON(p.Env.Stdout, view.NewRunObject(v, time.Now()).Only(named))
	}
	return code, printWords(p, v, named)
}

// printWords prints the result of each agent in a line.
func printWords(p *cmdline.Place, v *store.View, named []*store.Agent) error {
	for _, a := range named {
		word, cause := task.Word(v.Agent(a.ID).Status), ""
		if r := v.Agent(a.ID).Result(); r != nil && view.CauseOf(r) != word {
			cause = strings.TrimPrefix(view.CauseOf(r), word+": ")
		}
		line := fmt.Sprintf("%s %s", a.ID, word)
		if cause != "" {
			line += ": " + cause
		}
		if _, err := fmt.Fprintln(p.Env.Stdout, termtext.Line(line)); err != nil {
			return err
		}
	}
	return nil
}

// await follows a run until it, or the named agents, have ended.
func await(ctx context.Context, p *cmdline.Place, s *selection.Selection) (*store.View, error) {
	if s.View.Status == store.RunRunning || s.Run.Live() {
		watching, stop := context.WithCancel(ctx)
		defer stop()
		shown := make(chan struct{})
		go func() {
			defer close(shown)
			show(watching, p, s.Run)
		}()
		err := awaitAgents(ctx, s)
		stop()
		<-shown
		if err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return session.View(ctx, p, s.Run)
}

// awaitAgents returns once the named agents have ended, or the run has and
// its owner too: it may merge after the last agent.
func awaitAgents(ctx context.Context, s *selection.Selection) error {
	open := map[task.ID]bool{}
	for _, a := range s.Named {
		if a.Result() == nil {
			open[a.ID] = true
		}
	}
	if len(s.Named) > 0 && len(open) == 0 {
		return nil
	}
	v := store.Fold(s.View.Identity, nil)
	for r, err := range s.Run.Follow(ctx, 0) {
		if err != nil {
			return err
		}
		v.Apply(r)
		if r.N < s.View.Last {
			continue // an earlier attempt may have ended
		}
		for id := range open {
			if a := v.Agent(id); a != nil && a.Result() != nil {
				delete(open, id)
			}
		}
		if len(s.Named) > 0 && len(open) == 0 {
			return nil
		}
	}
	return nil
}

// waitedCode is that of an agent that was waited for: it may have to wait for
// a resume.
func waitedCode(v *store.View, a *store.Agent) exit.Code {
	stopped, ok := a.Status.(*task.Cancelled)
	if v.Status == store.RunPaused && (a.Result() == nil || ok && stopped.Cause == task.CauseBudget) {
		return exit.Paused
	}
	return AgentCode(a)
}

// AgentCode returns the exit code for the result of an agent.
func AgentCode(a *store.Agent) exit.Code {
	done, ok := a.Status.(*task.Completed)
	switch {
	case !ok:
		return exit.Degraded
	case a.Appraisal != nil && !a.Appraisal.Pass && !a.Accepted():
		return exit.Degraded
	case done.Verified != nil && !*done.Verified:
		return exit.Verify
	default:
		return exit.OK
	}
}

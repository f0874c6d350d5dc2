package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/tui"
	"agentswarm/swarm/tui/watching"
)

// NewWatchCommand returns the command `swarm watch`.
func NewWatchCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "watch",
		Usage:     "watch a run on the whole terminal, and act on its agents",
		ArgsUsage: "[RUN | AGENT]",
		Flags:     []cli.Flag{cmdline.JSONFlag()},
		Description: `Shows the agents of a run in groups: needs you, running, failed, ready to land, and
the others. Keys answer questions, send messages, cancel and retry agents, show
patches, and open a shell or your editor in a workspace; ? lists them. Leaving the
view does not stop the run.

Without a terminal, and with --json, it prints like status --watch.

Examples:
  swarm watch
  swarm watch k3x9q2
  swarm watch k3x9q2/a7
  swarm run --watch tasks.toml`,
		Action: func(c *cli.Context) error { return watchAction(c, env) },
	}
}

func watchAction(c *cli.Context, env cmdline.Env) error {
	p, s, err := selection.Open(c, env, 0, 1)
	if err != nil {
		return err
	}
	if c.Bool("json") || !HasScreen(p) {
		return watchStatus(c.Context, p, s, c.Bool("json"))
	}
	return watchScreen(p, c, env, s)
}

// HasScreen reports whether the terminal can show a full-screen view.
func HasScreen(p *cmdline.Place) bool {
	in, ok := p.Env.Stdin.(interface{ Fd() uintptr })
	out := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	return ok && cmdline.IsTerminal(in.Fd()) && out.TTY && out.Motion
}

// watchScreen shows the view until the person leaves it, or the command is to end.
func watchScreen(p *cmdline.Place, c *cli.Context, env cmdline.Env, s *selection.Selection) (err error) {
	v := newWatchView(p, c, env, s.Run)
	defer func() { err = errors.Join(err, v.close()) }()
	term := terminal.Detect(p.Env.Stdout, p.Env.Getenv)
	screen := watching.New(watching.Request{Source: v, Actions: v, Color: term.Color})
	first, err := v.Next(c.Context)
	if err != nil {
		return err
	}
	screen.Show(first)
	if len(s.Named) > 0 {
		screen.Select(s.Named[0].ID)
	}
	err = Present(v.Ctx, p, tui.Program{Screen: screen, Begin: screen.Begin(), Color: term.Color, Title: cmdline.Program + " watch " + s.Run.ID})
	if err == nil {
		err = screen.Err()
	}
	if err == nil && screen.Snapshot().Live {
		fmt.Fprintf(p.Env.Stderr, "run %s continues; `%s watch %s` shows it again, `%s cancel %[1]s` ends it\n", s.Run.ID, p.Env.Calls, s.Run.ID, p.Env.Calls)
	}
	return err
}

// Present runs a full-screen program on the terminal. It returns the program's error or the cause
// of ctx.
func Present(ctx context.Context, p *cmdline.Place, pr tui.Program) error {
	pr.In, pr.Out, pr.Environ = p.Env.Stdin, cmdline.Unwrapped(p.Env.Stdout), p.Env.Environ
	return tui.Run(ctx, pr)
}

// WatchDetached shows a run of another process. If the run has ended when the person leaves the
// view, it prints the result and returns an error with the run's exit code.
func WatchDetached(p *cmdline.Place, c *cli.Context, env cmdline.Env, run *store.Run) error {
	s, err := selection.Run(c.Context, p, []string{run.ID})
	if err != nil {
		return err
	}
	if err := watchScreen(p, c, env, s); err != nil {
		return err
	}
	v, err := run.View()
	if err != nil || v.Status == store.RunRunning || run.Live() {
		return err
	}
	code, err := printWaited(p, s, v, c.Bool("json"))
	if err == nil && code != exit.OK {
		return &exit.Error{Code: code}
	}
	return err
}

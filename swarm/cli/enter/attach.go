package enter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// NewAttachCommand returns the command `swarm attach`.
func NewAttachCommand(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:      "attach",
		Usage:     "watch the terminal of an agent, and type into it",
		ArgsUsage: "[AGENT]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "only watch; ctrl-c leaves, too"},
			&cli.StringFlag{
				Name: "detach-key", Value: defaultDetachKey,
				Usage: "the `KEY` that leaves the terminal, such as ctrl-a",
			},
		},
		Description: `Connects this terminal to an agent that runs with pty = true. Your keys, also
Ctrl-C, go to the agent; ctrl-] leaves, and the agent continues. Several people can
watch, and one of them can type. Without a terminal, use logs -f.

The agent's output is shown unchanged, with its escape sequences. Every other
command makes such sequences visible.

When the agent ends, the exit code is 0 if it completed, else 3.

Examples:
  swarm attach a3
  swarm attach k3x9q2/a3 --watch
  swarm attach a3 --detach-key ctrl-a`,
		Action: func(c *cli.Context) error { return attachAction(c, env) },
	}
}

func attachAction(c *cli.Context, env cmdline.Env) error {
	key, err := parseDetachKey(c.String("detach-key"))
	if err != nil {
		return err
	}
	p, s, err := selection.Open(c, env, 0, 1)
	if err != nil {
		return err
	}
	if err := refuseAgents(p, "attach"); err != nil {
		return err
	}
	a, err := s.One("attach")
	if err != nil {
		return err
	}
	t := &attaching{Place: p, run: s.Run, id: a.ID, key: key, watch: c.Bool("watch")}
	if err := t.findTerminal(); err != nil {
		return err
	}
	stream, err := t.join(c.Context, s.View)
	if err != nil {
		return err
	}
	attempt := a.Attempt
	if v, err := s.Run.View(); err == nil && v.Agent(a.ID) != nil {
		attempt = v.Agent(a.ID).Attempt // it may have begun only now
	}
	end, err := t.talk(stream)
	if err != nil || end == endDetached {
		return err
	}
	// Those that were taken over for the terminal end this process again.
	ctx, stop := cmdline.OnSignals(context.WithoutCancel(c.Context))
	defer stop()
	if end == endLost {
		if err := t.explain(ctx); err != nil {
			return err
		}
	}
	return t.tellEnd(ctx, s.View.Identity, attempt)
}

// explain tells why the run says nothing any more; nil where the agent, or
// the run, has ended.
func (t *attaching) explain(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 40 {
		v, err := t.run.View()
		if err != nil {
			return err
		}
		if a := v.Agent(t.id); a.Exit != nil || a.Result() != nil || v.Status != store.RunRunning {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return &exit.Error{Code: exit.Failed, Err: fmt.Errorf(
		"attach: the connection to %s broke, perhaps since this terminal took too long to show what came; attach again", t.id)}
}

// refuseAgents refuses a command to agents: they may neither speak to each
// other nor work in each other's place. The socket of a run and the sandbox stop
// even an agent that hides its identity.
func refuseAgents(p *cmdline.Place, verb string) error {
	inside, err := policy.Supervised(p.State)
	if inside || p.Env.Getenv("SWARM_AGENT") != "" {
		return &exit.Error{Code: exit.Approval, Err: fmt.Errorf("%s: refused: an agent or its processes "+
			"has no access to other agents; only a person has", verb)}
	}
	return err
}

// attaching is a person on the way to, and at, the terminal of an agent.
type attaching struct {
	*cmdline.Place
	run   *store.Run
	id    task.ID
	key   detachKey
	watch bool

	in, out int // descriptors of the person's own terminal
}

// address names the agent wherever it is typed.
func (t *attaching) address() string { return store.Address{Run: t.run, Agent: t.id}.String() }

// findTerminal finds the person's own terminal.
func (t *attaching) findTerminal() error {
	in, out := terminal.Detect(AsWriter{t.Env.Stdin}, t.Env.Getenv), terminal.Detect(t.Env.Stdout, t.Env.Getenv)
	if !in.TTY || !out.TTY {
		return &exit.UsageError{
			Text:   "attach: standard input and output must be a terminal",
			Advice: fmt.Sprintf("follow its output with `%s logs -f %s`", t.Env.Calls, t.address()),
		}
	}
	t.in, t.out = in.Descriptor, out.Descriptor
	return nil
}

// AsWriter passes an input stream to [terminal.Detect].
type AsWriter struct{ io.Reader }

func (AsWriter) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Fd is the descriptor of the stream; no such number where it has none.
func (r AsWriter) Fd() uintptr {
	if f, ok := r.Reader.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// attachable is the reason why attaching to an agent is impossible; nil if that
// is not known yet.
func (t *attaching) attachable(v *store.View) error {
	a := v.Agent(t.id)
	config, err := session.EngineConfig(v)
	if err != nil {
		return err
	}
	state, running := a.Status.(*task.Running)
	refuse := func(advice, why string) error {
		return &exit.UsageError{
			Text:   fmt.Sprintf("attach: %s %s", t.id, why),
			Advice: fmt.Sprintf(advice, t.Env.Calls, t.address()),
		}
	}
	switch {
	case !running:
		return refuse("its output is in `%s logs %s`", "has ended: "+task.Word(a.Status))
	case !engine.SpecOf(config, a.Call).PTY:
		return refuse("follow its output with `%s logs -f %s`",
			"has no terminal: only agents with pty = true have one")
	case state.State.Coarse() == task.Queued:
		return refuse("see `%s show %s`", "has not begun: it is queued")
	case a.Exit != nil:
		return refuse("wait for its result with `%s wait %s`",
			"has ended; its work is being captured and checked")
	}
	return nil
}

// join asks for the terminal, and waits while the agent's workspace is still
// being made ready.
func (t *attaching) join(ctx context.Context, v *store.View) (*control.Stream, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	slow := time.AfterFunc(slowEnd, func() {
		fmt.Fprintf(t.Env.Stderr, "%s is being made ready; its terminal is waited for (ctrl-c gives up)\n", t.id)
	})
	defer slow.Stop()
	for begun := 0; ; {
		if err := t.attachable(v); err != nil {
			return nil, err
		}
		client, err := session.Reach(ctx, t.Place, t.run)
		if err != nil {
			return nil, err
		}
		stream, err := client.Attach(ctx, &control.Attach{Agent: t.id, Watch: t.watch})
		if err == nil {
			return stream, nil
		}
		_ = client.Close() // nothing was sent that could be lost
		var refused *control.RefusedError
		var early *control.AnswerError
		switch {
		case errors.As(err, &refused):
			return nil, &exit.Error{Code: exit.Approval, Err: fmt.Errorf("attach: %w", err)}
		case !errors.As(err, &early):
			return nil, err
		}
		if v, err = t.run.View(); err != nil {
			return nil, err
		}
		if agentStarted(v.Agent(t.id)) {
			// It will have a terminal in a moment, if ever: on a busy machine, in
			// seconds.
			if begun++; begun > 200 {
				return nil, early
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// agentStarted tells whether the agent itself, not its setup, was started in
// the current attempt.
func agentStarted(a *store.Agent) bool {
	for _, s := range a.Supervisors {
		if s.Attempt == a.Attempt && s.Step == "agent" {
			return true
		}
	}
	return false
}

// tellEnd reports the result of an agent whose terminal is over.
func (t *attaching) tellEnd(ctx context.Context, identity store.Identity, attempt int) error {
	slow := time.AfterFunc(slowEnd, func() {
		fmt.Fprintf(t.Env.Stderr, "%s has ended; its work is being captured and checked (ctrl-c does not end that)\n", t.id)
	})
	defer slow.Stop()
	v := store.Fold(identity, nil)
	for r, err := range t.run.Follow(ctx, 0) {
		if err != nil {
			return err
		}
		v.Apply(r)
		a := v.Agent(t.id)
		if a != nil && (a.Attempt > attempt || a.Attempt == attempt && a.Result() != nil) {
			break
		}
	}
	if v.Agent(t.id).Result() == nil && !t.run.Live() {
		var err error
		if v, err = session.View(ctx, t.Place, t.run); err != nil {
			return err
		}
	}
	a := v.Agent(t.id)
	text := task.Word(a.Status)
	r := a.Result()
	switch {
	case a.Attempt > attempt:
		text = fmt.Sprintf("is tried again; attach again with `%s attach %s`", t.Env.Calls, t.address())
	case r != nil && view.CauseOf(r) != "":
		text = view.CauseOf(r)
	}
	fmt.Fprintf(t.Env.Stderr, "%s %s\n", t.id, termtext.Line(text))
	if _, completed := r.(*task.Completed); !completed || a.Attempt > attempt {
		return &exit.Error{Code: exit.Degraded}
	}
	return nil
}

// slowEnd is how long the terminal, or the result, of an agent may take in
// silence.
const slowEnd = 500 * time.Millisecond

package agentcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/cli/view"
	"agentswarm/swarm/control"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/mcp"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/swarm/workflow/library"
)

// NewMCP returns the command mcp.
func NewMCP(env cmdline.Env) *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "run scripts for another agent harness, over MCP",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "agent `NAME` for calls that name none"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "run `N` agents at once in each run, 1 to 100"},
			&cli.IntFlag{Name: "max-agents", Usage: "start at most `N` agents in the life of a run (default 1000)"},
		},
		Description: `Speaks the protocol on standard input and output, for a harness that starts it
in the repository. Its tool dispatch takes a workflow script and args, and returns
only the script's value. The agents' answers stay out of the caller's context.
dispatch_wait, dispatch_status and dispatch_cancel handle long runs. A client that
asks for progress gets it every 5 seconds.

ls, status, diff and merge work on these runs too. If the harness cancels a call,
its run continues for 10 minutes. When the harness exits, live runs are stopped and
kept; dispatch_wait resumes them.

Examples:
  swarm mcp
  claude mcp add swarm -- swarm mcp --agent mine`,
		Action: func(c *cli.Context) error { return mcpAction(c, env) },
	}
}

func mcpAction(c *cli.Context, env cmdline.Env) error {
	if _, err := cmdline.Arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := cmdline.Open(c, env)
	if err != nil {
		return err
	}
	if err := p.Personal("starting agents"); err != nil {
		return err
	}
	d := &dispatcher{Place: p, flags: []string{"-C", p.Dir}}
	for _, name := range []string{"agent", "jobs", "max-agents"} {
		if c.IsSet(name) {
			d.flags = append(d.flags, strings.Repeat("-", min(2, len(name)))+name, fmt.Sprint(c.Value(name)))
		}
	}
	err = mcp.Serve(c.Context, d, mcp.Client{
		In: io.NopCloser(env.Stdin), Out: nopCloser{env.Stdout}, Version: cmdline.BuildVersion().Version,
	})
	if errors.Is(err, context.Canceled) && c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// dispatcher runs scripts for another harness, by the commands a user would
// type.
type dispatcher struct {
	*cmdline.Place
	flags []string // of run
}

// Dispatch runs a script to its end.
func (d *dispatcher) Dispatch(ctx context.Context, r mcp.Request, report func(mcp.Progress)) (*mcp.Status, error) {
	var run *store.Run
	var follow sync.WaitGroup
	following, stop := context.WithCancel(ctx)
	args := append([]string{"run", "--json", "-e", r.Code}, d.flags...)
	if r.Args != nil {
		args = append(args, "--args", string(r.Args))
	}
	end := d.main(ctx, args, func(began *store.Run) {
		run = began
		follow.Go(func() { d.follow(following, began, report) })
	})
	stop()
	follow.Wait() // nobody is told of a run that is over
	if run == nil {
		return nil, end.refusal()
	}
	return d.stateAfter(ctx, run, end)
}

// Attend waits for the end of a run, which it resumes first where its client
// left or its process died.
func (d *dispatcher) Attend(ctx context.Context, id string, report func(mcp.Progress)) (*mcp.Status, error) {
	s, err := selection.Run(ctx, d.Place, []string{id})
	switch {
	case err != nil:
		return nil, err
	case len(s.Named) > 0:
		return nil, fmt.Errorf("run: %q is an agent, and a run is wanted", id)
	case !abandoned(s.View):
		return d.watch(ctx, s.Run, report)
	}
	following, stop := context.WithCancel(ctx)
	var follow sync.WaitGroup
	follow.Go(func() { d.follow(following, s.Run, report) })
	end := d.main(ctx, append([]string{"resume", "--json", s.Run.ID}, d.flags[:2]...), nil)
	stop()
	follow.Wait()
	return d.stateAfter(ctx, s.Run, end)
}

// abandoned reports whether a dispatched run stopped because its client had
// left, and not because of a request.
func abandoned(v *store.View) bool {
	s, err := library.Latest(v)
	if err != nil || s == nil || !s.Dispatched || v.Status != store.RunStopped {
		return false
	}
	if v.Stop != nil {
		return v.Stop.Abandoned
	}
	return v.Died || v.Reason == store.ReasonDied // recovery keeps the reason
}

// ending is the exit code and the output of a command.
type ending struct {
	code         exit.Code
	stdout, told bytes.Buffer
}

// main runs a command as a user would type it, for the model of another harness.
func (d *dispatcher) main(ctx context.Context, args []string, began func(*store.Run)) *ending {
	end := &ending{}
	env := d.Env
	env.Dispatched, env.Began, env.Args = true, began, args
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &end.stdout, &end.told
	end.code = exit.Code(env.Main(ctx, env))
	return end
}

// refusal is the error of a command that was refused, or that failed.
func (e *ending) refusal() error {
	var o struct{ Error *view.ErrorObject }
	if json.Unmarshal(e.stdout.Bytes(), &o) == nil && o.Error != nil {
		return errors.New(o.Error.Message)
	}
	return errors.New(lastText(e.told.String()))
}

// stateAfter is the state of a run whose command has ended.
func (d *dispatcher) stateAfter(ctx context.Context, run *store.Run, end *ending) (*mcp.Status, error) {
	status, err := d.Status(context.WithoutCancel(ctx), run.ID) // a stop has to be told, too
	if err == nil && (end.code == exit.Failed || status.Status == string(store.RunRunning)) {
		return nil, fmt.Errorf("run %s: %w", run.ID, end.refusal()) // swarm failed, or another process has the run
	}
	return status, err
}

// watch waits for the end of a run that another process owns.
func (d *dispatcher) watch(ctx context.Context, run *store.Run, report func(mcp.Progress)) (*mcp.Status, error) {
	d.follow(ctx, run, report)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d.Status(ctx, run.ID)
}

// follow reports how far a run is, until it ends or ctx does.
func (d *dispatcher) follow(ctx context.Context, run *store.Run, report func(mcp.Progress)) {
	v := store.Fold(store.Identity{}, nil)
	report(mcp.Progress{Run: run.ID})
	for r, err := range run.Follow(ctx, 0) {
		if err != nil {
			return // ctx ended, or the journal cannot be read: there is no progress to report
		}
		v.Apply(r)
		switch r.Event.(type) {
		case *event.Called, *event.Settled, *event.Leased:
			report(mcp.Progress{Run: run.ID, Ended: endedIn(v), Made: len(v.Agents)})
		}
	}
}

// endedIn counts the agents of a run that are not at work.
func endedIn(v *store.View) (n int) {
	for _, a := range v.Agents {
		if _, open := a.Status.(*task.Running); !open {
			n++
		}
	}
	return n
}

// Status is where a run is; the latest that was dispatched where the id is empty.
func (d *dispatcher) Status(ctx context.Context, id string) (*mcp.Status, error) {
	if id == "" {
		var err error
		if id, err = d.latest(); err != nil {
			return nil, err
		}
	}
	s, err := selection.Run(ctx, d.Place, []string{id})
	if err != nil {
		return nil, err
	}
	v := s.View
	status := &mcp.Status{
		Run: v.Identity.Run, Status: string(v.Status), Agents: len(v.Agents), Ended: endedIn(v), Reason: v.Reason,
	}
	if r := v.Returned; r != nil {
		status.Value = r.Value
		if r.Error != nil {
			status.Error = (&library.Error{Err: view.ThrownBy(r.Error), Thrown: true}).Error()
		}
	}
	return status, nil
}

// latest is the id of the run that was dispatched last.
func (d *dispatcher) latest() (string, error) {
	all, err := d.State.Runs()
	if err != nil {
		return "", err
	}
	for _, e := range slices.Backward(all) {
		var s struct{ Dispatched bool }
		if e.Damage == nil && e.Identity.Workflow.Kind == store.WorkflowScript &&
			json.Unmarshal([]byte(e.Identity.Workflow.Text), &s) == nil && s.Dispatched {
			return e.Run.ID, nil
		}
	}
	return "", errors.New("run: no run was dispatched here yet")
}

// Cancel asks the owner of a run to stop it.
func (d *dispatcher) Cancel(ctx context.Context, id string) error {
	s, err := selection.Run(ctx, d.Place, []string{id})
	if err != nil {
		return err
	}
	client, err := session.Reach(ctx, d.Place, s.Run)
	if err != nil {
		return err
	}
	err = client.Ask(ctx, &control.Stop{Reason: mcp.ErrCancelled.Error()})
	return errors.Join(follow.WithExitCode(err), client.Close())
}

// lastText is the last line of a command's messages.
func lastText(told string) string {
	lines := strings.Split(strings.TrimSpace(told), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], cmdline.Program+": ")
}

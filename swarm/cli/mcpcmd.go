package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/event"
	"agentswarm/swarm/mcp"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func newMCPCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "run scripts for another agent harness, over MCP",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "agent", Usage: "the agent `NAME` for calls that name none"},
			&cli.IntFlag{Name: "j", Usage: "run `N` agents at once in each run, 1 to 100"},
			&cli.IntFlag{Name: "max-agents", Usage: "start at most `N` agents in the life of a run (default 1000)"},
		},
		Description: `Speaks the protocol on standard input and output, for a harness that starts it
in the repository. Its tool dispatch takes a workflow script and args and answers
with the script's value alone: what the agents say never enters the context of
the model that asked. dispatch_status and dispatch_cancel look after long runs.

The runs are runs like any other: ls, status, diff and merge know them. Those at
work when the harness leaves are stopped and kept for a resume.

Examples:
  swarm mcp
  claude mcp add swarm -- swarm mcp --agent mine`,
		Action: func(c *cli.Context) error { return mcpAction(c, env) },
	}
}

func mcpAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	if err := p.personal("starting agents"); err != nil {
		return err
	}
	d := &dispatcher{place: p, flags: []string{"-C", p.dir}}
	for _, name := range []string{"agent", "j", "max-agents"} {
		if c.IsSet(name) {
			d.flags = append(d.flags, strings.Repeat("-", min(2, len(name)))+name, fmt.Sprint(c.Value(name)))
		}
	}
	err = mcp.Serve(c.Context, d, mcp.Client{
		In: io.NopCloser(env.Stdin), Out: nopCloser{env.Stdout}, Version: buildVersion().Version,
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
	*place
	flags []string // of run
}

// Dispatch runs a script to its end.
func (d *dispatcher) Dispatch(ctx context.Context, r mcp.Request, report func(mcp.Progress)) (json.RawMessage, error) {
	if strings.TrimSpace(r.Code) == "" {
		return nil, errors.New("code: the script is empty")
	}
	var out, told bytes.Buffer
	env := d.env
	env.Dispatched = true
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &out, &told
	// Ended before this returns: nobody is told of a run that is over.
	following, stop := context.WithCancel(ctx)
	defer stop()
	var follow sync.WaitGroup
	defer follow.Wait()
	env.Began = func(run *store.Run) { follow.Go(func() { d.follow(following, run, report) }) }
	args := append([]string{"run", "--json", "-e", r.Code}, d.flags...)
	if r.Args != nil {
		args = append(args, "--args", string(r.Args))
	}
	env.Args = args
	Main(ctx, env)
	stop()
	var o dispatched
	if err := json.Unmarshal(out.Bytes(), &o); err != nil {
		return nil, fmt.Errorf("the run told nothing: %s", lastText(told.String()))
	}
	return o.value()
}

// dispatched is what of a run's object a dispatch needs.
type dispatched struct {
	Run    string          `json:"run"`
	Status store.Status    `json:"status"`
	Reason string          `json:"reason"`
	Result json.RawMessage `json:"result"`
	Error  *errorObject    `json:"error"`
}

// value is what the script returned, or why it did not.
func (o *dispatched) value() (json.RawMessage, error) {
	switch {
	case o.Run == "" && o.Error != nil:
		return nil, errors.New(o.Error.Message)
	case o.Error != nil:
		return nil, fmt.Errorf("run %s: %s", o.Run, o.Error.Message)
	case o.Status == store.RunCompleted, o.Status == store.RunDegraded, o.Status == store.RunFailed:
		return o.Result, nil // it returned, however its agents fared
	default:
		return nil, fmt.Errorf("run %s %s: %s", o.Run, o.Status, o.Reason)
	}
}

// follow reports how far a run is.
func (d *dispatcher) follow(ctx context.Context, run *store.Run, report func(mcp.Progress)) {
	at := mcp.Progress{Run: run.ID}
	report(at)
	for r, err := range run.Follow(ctx, 0) {
		if err != nil {
			return // the run is over, or its journal cannot be read: nothing to tell
		}
		switch r.Event.(type) {
		case *event.Called:
			at.Made++
		case *event.Settled:
			at.Ended++
		default:
			continue
		}
		report(at)
	}
}

// Status is where a run is.
func (d *dispatcher) Status(ctx context.Context, id string) (*mcp.Status, error) {
	s, err := d.selectRun(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	v := s.view
	status := &mcp.Status{Run: v.Identity.Run, Status: string(v.Status), Agents: len(v.Agents)}
	for _, a := range v.Agents {
		if _, open := a.Status.(*task.Running); !open {
			status.Ended++
		}
	}
	if r := v.Returned; r != nil {
		status.Value = r.Value
		if r.Error != nil {
			status.Error = (&ScriptError{Err: thrownBy(r.Error), Code: CodeScript}).Error()
		}
	}
	return status, nil
}

// Cancel ends a run of another process.
func (d *dispatcher) Cancel(ctx context.Context, id string) error {
	env := d.env
	var told bytes.Buffer
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), io.Discard, &told
	env.Args = append([]string{"cancel", id}, d.flags[:2]...)
	if Main(ctx, env) != 0 {
		return errors.New(lastText(told.String()))
	}
	return nil
}

// lastText is the last line of what a command told.
func lastText(told string) string {
	lines := strings.Split(strings.TrimSpace(told), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], program+": ")
}

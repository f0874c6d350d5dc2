// Package readiness finds out, before a run starts, whether its agents can start: by
// the versions of their programs, their logins, and the folders that a sandbox hides.
package readiness

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

// Request names the agents of a run.
type Request struct {
	Machine *kinds.Machine // required
	Config  engine.Config
	Anyway  bool // start agents that are expected to fail
	// Hidden returns the folder with a program that the sandbox of an agent hides; ""
	// if the agent sees the program. Required.
	Hidden func(ctx context.Context, program string, spec *agent.Spec) (folder string, err error)
	// Old is told of a program that is older than the tested versions. Required.
	Old func(f kinds.Found, version string)
}

// Check checks the agents of calls, each once. Several goroutines may use it.
type Check struct {
	Request
	mu    sync.Mutex // guards known
	known map[string]error
}

// New returns the check of a run's agents.
func New(r Request) *Check { return &Check{Request: r, known: map[string]error{}} }

// UnfitError is an agent that cannot start.
type UnfitError struct{ Text, Advice string }

func (e *UnfitError) Error() string { return e.Text }

// Hint returns the remedy.
func (e *UnfitError) Hint() string { return e.Advice }

// anyway ends each advice.
const anyway = "; --anyway starts it all the same"

// Calls checks the agents of calls. The error is an [*UnfitError] for an agent that is
// not logged in, whose version is known not to work, whose model is at a port that its
// program blocks, or whose program the sandbox hides;
// or the cause of the end of ctx. Of an agent with a command of the user's only the
// folder of its program is checked.
func (c *Check) Calls(ctx context.Context, calls ...*task.Call) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range calls {
		spec := c.Config.Agents[call.Agent]
		if spec == nil {
			continue
		}
		err, known := c.known[call.Agent]
		if !known {
			err = c.agent(ctx, spec)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c.known[call.Agent] = err
		}
		if err != nil {
			return err
		}
		if call.Input == nil {
			continue // the calls of a script have models of their own
		}
		spec = engine.SpecOf(c.Config, call)
		if err := c.keyed(spec); err != nil {
			return err
		}
		if err := c.connects(spec); err != nil {
			return err
		}
	}
	return nil
}

// keyed refuses a model of the built-in agent whose provider needs a key that is not
// set. The login of that agent depends on the model.
func (c *Check) keyed(spec *agent.Spec) error {
	if spec.Kind != agent.KindBuiltin || c.Anyway {
		return nil
	}
	lacks := provider.Lacking(c.Machine.SurroundingsOf(spec).Getenv, c.Config.Providers, spec.Model)
	if lacks == "" {
		return nil
	}
	return &UnfitError{"agent " + spec.Name + ": it is not logged in for " + spec.Model, "set $" + lacks + anyway}
}

// connects refuses a model whose server has a port to which the program of the agent
// does not connect.
func (c *Check) connects(spec *agent.Spec) error {
	kind, known := c.Machine.Kinds.Find(spec.Kind)
	if !known || !kind.Fetches || kind.Login == nil || c.Anyway {
		return nil
	}
	address := kind.Login(c.Machine.SurroundingsOf(spec)).Address(spec.Model)
	if !kind.Blocks(address) {
		return nil
	}
	return &UnfitError{
		fmt.Sprintf("agent %s: its model is at %s, and %s connects to no server with that port", spec.Name, address, cmp.Or(kind.Program, kind.Name)),
		"let the server listen at another port, such as 8080" + anyway,
	}
}

// agent checks an agent by its program.
func (c *Check) agent(ctx context.Context, spec *agent.Spec) error {
	if err := c.seen(ctx, spec); err != nil {
		return err
	}
	f, known := c.Machine.ProgramOf(spec)
	if !known {
		return nil
	}
	if f.Kind.Login != nil {
		f.Login = f.Kind.Login(c.Machine.SurroundingsOf(spec))
	}
	version, _ := c.Machine.Version(ctx, f)
	if unfit := kinds.Check(f, version); unfit != nil && !c.Anyway {
		return &UnfitError{unfit.Error(), unfit.Advice + anyway}
	}
	if kinds.Judge(version, f.Version) == kinds.Older {
		c.Old(f, version)
	}
	return nil
}

// seen refuses an agent whose program is in a folder that its sandbox hides.
func (c *Check) seen(ctx context.Context, spec *agent.Spec) error {
	if c.Anyway || len(spec.Command) == 0 {
		return nil
	}
	program := spec.Command[0]
	if !strings.Contains(program, "/") {
		program = kinds.FindProgram(c.Machine.SearchPath(spec.Env), program)
	}
	folder, err := c.Hidden(ctx, program, spec)
	if err != nil || folder == "" {
		return err
	}
	return &UnfitError{
		fmt.Sprintf("agent %s: %s lies in %s, which the sandbox hides", spec.Name, program, folder),
		"install it elsewhere" + anyway,
	}
}

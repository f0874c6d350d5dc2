package isolation

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
)

// Space is a workspace in which a command of the user runs, and no agent works. It is a
// [lander.Space].
type Space struct {
	executor *Executor
	dir      string
	env      []string
	walls    json.RawMessage
	low      bool // as that of [lander.SpaceRequest]
}

// InSpace does some work in a workspace of its own, and removes it with all
// files that the work left in it. A workspace that a crash leaves behind is a
// stray, which the recovery of the run removes.
func (e *Executor) InSpace(ctx context.Context, c lander.SpaceRequest, work func(*Space) error) (err error) {
	leased, err := e.Trees.Lease(ctx, worktree.LeaseRequest{
		Name: c.Name, Base: c.Commit, Saved: c.Saved, Backend: e.Backend,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, e.Trees.Drop(ctx, *leased))
	}()
	if c.Onto != "" {
		if err := landing.FillModules(ctx, landing.FillRequest{
			Repo: e.Project.Repo, Stores: e.Run.Modules(), Trees: e.Trees, Workspace: *leased, Onto: c.Onto, Commit: c.Commit,
		}); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(c.Saved), 0o700); err != nil {
		return err
	}
	private := c.Private
	if private == "" {
		if private, err = os.MkdirTemp(filepath.Dir(c.Saved), "box-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, engine.RemoveBox(e.Run, private)) }()
	}
	request := engine.SandboxRequest{Step: c.Step, Workspace: *leased, Private: private}
	if c.Kept != "" {
		request.Write = []string{c.Kept}
	}
	around, err := e.Sandbox(request)
	if err != nil {
		return err
	}
	env, err := agent.Environ(e.Environ, agent.Inline(), agent.Place{
		Run: e.Run.ID, Worktree: leased.Path(), Root: e.Project.Root(), Base: string(c.Commit), Artifacts: c.Kept,
		Workspace: string(leased.Backend), Tmp: around.Tmp, Shims: around.Shims,
		Env: around.Env, Pass: e.Settings.PassEnv,
	})
	if err != nil {
		return err
	}
	return work(&Space{executor: e, dir: leased.Path(), env: append(env, c.Env...), walls: around.Sandbox, low: c.Low})
}

// Dir is the folder of the workspace.
func (s *Space) Dir() string { return s.dir }

// Shell runs a text of the user's by sh -c, whose output goes to out+".out"
// and out+".err".
func (s *Space) Shell(ctx context.Context, text, out string) (proc.Exit, error) {
	return s.Run(ctx, engine.ShellCommand(text), out)
}

// Run is Shell for a command.
func (s *Space) Run(ctx context.Context, argv []string, out string) (proc.Exit, error) {
	exit, err := engine.Shell(ctx, engine.ShellRequest{
		Launcher: Launcher(s.executor.Self, s.executor.Level), Sandbox: s.walls, Run: s.executor.Run.ID,
		Argv: argv, Dir: s.dir, Env: s.env, Out: out, Low: s.low,
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return exit, err
}

// Spaces makes the workspaces of checks before a landing. It implements [lander.Spaces].
type Spaces struct {
	Executor *Executor // required
	// Fill brings along the user's ignored files. It is called once, before the first
	// workspace. Required.
	Fill func(context.Context) error
}

// Prepare brings along the user's ignored files. It may be called again.
func (s Spaces) Prepare(ctx context.Context) error {
	if s.Executor.Trees.Include != nil {
		return nil
	}
	return s.Fill(ctx)
}

// In makes a workspace, runs work in it, and removes it.
func (s Spaces) In(ctx context.Context, r lander.SpaceRequest, work func(lander.Space) error) error {
	return s.Executor.InSpace(ctx, r, func(own *Space) error { return work(own) })
}

package cli

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

// space is a workspace in which a command of the user runs, and no agent works. It is a
// [lander.Space].
type space struct {
	bench *bench
	dir   string
	env   []string
	walls json.RawMessage
}

// inSpace does some work in a workspace of its own, which is removed with
// all that the work left in it. One that a crash leaves behind is a stray to
// whoever puts the run in order.
func (b *bench) inSpace(ctx context.Context, c lander.SpaceRequest, work func(*space) error) (err error) {
	leased, err := b.deps.Workspaces.Lease(ctx, worktree.LeaseRequest{
		Name: c.Name, Base: c.Commit, Saved: c.Saved, Backend: b.backend,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, b.deps.Workspaces.Drop(ctx, *leased))
	}()
	if c.Onto != "" {
		if err := landing.FillModules(ctx, landing.FillRequest{
			Repo: b.repo, Stores: b.run.Modules(), Trees: b.trees, Workspace: *leased, Onto: c.Onto, Commit: c.Commit,
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
		defer func() { err = errors.Join(err, engine.RemoveBox(b.run, private)) }()
	}
	request := engine.WallsRequest{Step: c.Step, Workspace: *leased, Private: private}
	if c.Kept != "" {
		request.Write = []string{c.Kept}
	}
	around, err := b.deps.Walls(request)
	if err != nil {
		return err
	}
	env, err := agent.Environ(b.env.Environ, agent.Inline(), agent.Place{
		Run: b.run.ID, Worktree: leased.Path(), Root: b.deps.Root, Base: string(c.Commit), Artifacts: c.Kept,
		Workspace: string(leased.Backend), Tmp: around.Tmp, Shims: around.Shims,
		Env: around.Env, Pass: b.isolation.PassEnv,
	})
	if err != nil {
		return err
	}
	return work(&space{bench: b, dir: leased.Path(), env: append(env, c.Env...), walls: around.Walls})
}

// Dir is the folder of the workspace.
func (s *space) Dir() string { return s.dir }

// Shell runs a text of the user's by sh -c, whose output goes to out+".out"
// and out+".err".
func (s *space) Shell(ctx context.Context, text, out string) (proc.Exit, error) {
	return s.run(ctx, engine.ShellCommand(text), out)
}

// run is Shell for a command.
func (s *space) run(ctx context.Context, argv []string, out string) (proc.Exit, error) {
	deps := s.bench.deps
	exit, err := engine.Shell(ctx, engine.ShellRequest{
		Launcher: deps.Launcher, Walls: s.walls, Run: s.bench.run.ID,
		Argv: argv, Dir: s.dir, Env: s.env, Out: out,
	})
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return exit, err
}

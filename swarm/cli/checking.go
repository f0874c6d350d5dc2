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
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// spaceRequest is a commit that is about to get a workspace of its own, in which
// no agent works: a command of the user's is run there.
type spaceRequest struct {
	step   engine.Step // required: SetupStep or CheckStep
	name   string      // required; as a workspace may be called
	commit git.Hash    // required
	// onto is the commit that patches were merged onto. Submodules that they move
	// are filled; empty: no submodule is filled.
	onto  git.Hash
	saved string // required; where the index of the workspace is kept
	kept  string // a folder that the command may leave something in
	// private is a new folder that walls are to keep things in, for the caller
	// to remove; empty: one that goes with the workspace.
	private string
	env     []string // variables that are added to those of the command
}

// space is such a workspace while a command may run in it.
type space struct {
	bench *bench
	dir   string
	env   []string
	walls json.RawMessage
}

// inSpace does some work in a workspace of its own, which is removed with
// all that the work left in it. One that a crash leaves behind is a stray to
// whoever puts the run in order.
func (b *bench) inSpace(ctx context.Context, c spaceRequest, work func(*space) error) (err error) {
	leased, err := b.deps.Workspaces.Lease(ctx, worktree.LeaseRequest{
		Name: c.name, Base: c.commit, Saved: c.saved, Backend: b.backend,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, b.deps.Workspaces.Drop(ctx, *leased))
	}()
	if err := b.fillModules(ctx, *leased, c); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.saved), 0o700); err != nil {
		return err
	}
	private := c.private
	if private == "" {
		if private, err = os.MkdirTemp(filepath.Dir(c.saved), "box-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, engine.RemoveBox(b.run, private)) }()
	}
	request := engine.WallsRequest{Step: c.step, Workspace: *leased, Private: private}
	if c.kept != "" {
		request.Write = []string{c.kept}
	}
	around, err := b.deps.Walls(request)
	if err != nil {
		return err
	}
	env, err := agent.Environ(b.env.Environ, agent.Inline(), agent.Place{
		Run: b.run.ID, Worktree: leased.Path(), Root: b.deps.Root, Base: string(c.commit), Artifacts: c.kept,
		Workspace: string(leased.Backend), Tmp: around.Tmp, Shims: around.Shims,
		Env: around.Env, Pass: b.isolation.PassEnv,
	})
	if err != nil {
		return err
	}
	return work(&space{bench: b, dir: leased.Path(), env: append(env, c.env...), walls: around.Walls})
}

// shell runs a text of the user's by sh -c, whose output goes to out+".out"
// and out+".err".
func (s *space) shell(ctx context.Context, text, out string) (proc.Exit, error) {
	return s.run(ctx, engine.ShellCommand(text), out)
}

// run is shell for a command.
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

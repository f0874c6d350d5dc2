package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/box"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/control"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/policy"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
	"agentswarm/swarm/shim"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/submodule"
)

// Supervise is the body of a process that swarm starts for itself and that
// needs more of the program than those of package early, which never come
// here; ok is false where args do not ask for one.
func Supervise(ctx context.Context, args []string) (code int, ok bool) {
	switch {
	case len(args) == 1 && args[0] == process.Word:
		return script.Serve(ctx, os.Stdin, os.Stdout), true
	case len(args) > 0 && args[0] == hookWord:
		return hookEarly(ctx, args[1:])
	case len(args) > 0 && args[0] == gitWord:
		return shim.Run(shim.Request{
			Args: args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr,
		}), true
	default:
		return 0, false
	}
}

// bench is what work on one run needs.
type bench struct {
	place
	run    *store.Run
	owner  *store.Owner
	frozen *git.Frozen
	trees  *worktree.Trees
	policy.Policy
	sandbox   *isolation.Executor
	snapshots atomic.Bool // a person chose confined = "snapshot" while the run went on
	deps      engine.Deps
	notices   *notices               // the warnings of the run
	contact   contact                // how a person is reached while agents work
	agents    map[string]*agent.Spec // as they are recorded with the run
}

// bench puts together what the engine needs to work on a run this process
// owns.
func (p *place) bench(ctx context.Context, run *store.Run, owner *store.Owner) (*bench, error) {
	p.Keep()
	b := &bench{place: *p, run: run, owner: owner, notices: &notices{w: p.Env.Stderr}}
	recorded, err := latestConfig(owner.View())
	if err != nil {
		return nil, err
	}
	b.contact, b.agents = recorded.contact, recorded.Agents
	if b.frozen, err = p.freeze(ctx, run); err != nil {
		return nil, err
	}
	self, err := p.Binary(p.Env.Self)
	if err != nil {
		return nil, err
	}
	b.sandbox = &isolation.Executor{
		Project: &b.Project, Run: run, Settings: recorded.Settings, Self: self, Environ: p.Env.Environ, Step: p.Env.Step,
	}
	if b.sandbox.Shims, err = shims(self); err != nil {
		return nil, err
	}
	b.Policy = recorded.Policy
	if err := p.Given(&b.sandbox.Settings); err != nil {
		return nil, err
	}
	if err := p.Cautious(&b.Policy); err != nil {
		return nil, err
	}
	if b.sandbox.Found, err = p.isolate(ctx, b.sandbox.Settings); err != nil {
		return nil, err
	}
	trees, err := worktree.New(worktree.Config{
		Repo: p.Repo, Frozen: b.frozen, Dir: p.State.Trees(run.ID), Trash: p.State.Trash(),
		LockFile: p.State.LockFile("worktrees"), Bases: p.State.Bases(), BaseSize: p.baseSize(), At: b.sandbox.MountedAt(),
		Pool: p.State.Pool(), PoolSize: p.poolSize(),
		Cores: runtime.NumCPU(), Step: p.Env.Step, Confine: b.sandbox.Confine(),
		MaxFile: recorded.MaxFile, Modules: landing.ModuleSource{Repo: p.Repo, Stores: run.Modules()},
		Own: git.Hash(owner.View().Identity.Base.Commit),
	})
	if err != nil {
		return nil, err
	}
	b.trees, b.sandbox.Trees = trees, trees
	known, err := cmdline.KindsFor(p.Env, recorded.Config)
	if err != nil {
		return nil, err
	}
	b.deps = engine.Deps{
		Run: run, Journal: owner, Workspaces: trees,
		Launcher: isolation.Launcher(self, b.sandbox.Rung), Walls: b.sandbox.Walls, Backend: b.sandbox.Backend,
		Kinds: known, Self: self, Walled: b.sandbox.Rung != box.None && !b.sandbox.Settings.Off(), Surroundings: cmdline.Machine(p.Env).Surroundings(),
		Unlock: func() error {
			return errors.Join(p.Repo.UnlockRefs(captureref.Run(run.ID)), submodule.UnlockStores(p.Repo, run.Modules()))
		},
		Disk: &limit.Disk{
			Dir: trees.Dir, Free: func() (int64, error) { return worktree.Free(trees.Dir) },
		},
		Memory:  admissionOf(p.Env),
		Version: cmdline.Machine(p.Env).VersionOf,
		Environ: p.Env.Environ, PassEnv: b.sandbox.Settings.PassEnv, Root: p.Root(), Cores: runtime.NumCPU(),
		Now: time.Now, Warn: b.notices.say,
	}
	b.deps.Joiner, b.deps.Prompts = b.lander(), newMemories(ctx, b)
	return b, b.judgeActions(ctx, self)
}

// engineConfig is the configuration that a run goes by.
func engineConfig(v *store.View) (engine.Config, error) {
	c, err := latestConfig(v)
	return c.Config, err
}

// settleOwned recovers a run that this process owns.
func (p *place) settleOwned(ctx context.Context, run *store.Run, owner *store.Owner) error {
	for _, notice := range owner.Notices {
		fmt.Fprintln(p.Env.Stderr, cmdline.Program+": "+termtext.Line(notice))
	}
	id, err := run.Identity()
	if err != nil {
		return err
	}
	v := store.Fold(id, owner.Records)
	config, err := engineConfig(v)
	if err != nil {
		return err
	}
	if v.Status == store.RunRunning {
		v.Status, v.Reason, v.Died = store.RunStopped, store.ReasonDied, true
	}
	b, err := p.bench(ctx, run, owner)
	if err != nil {
		return err
	}
	if err := diskwatch.Release(run.Dir); err != nil {
		return err
	}
	progress := p.startRecovery(run, v)
	defer progress.close()
	b.deps.Recovered = progress.recovered
	return errors.Join(engine.Recover(ctx, b.deps, config, v), b.trees.Close(), control.Clear(run, p.Env.Getenv))
}

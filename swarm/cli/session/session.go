package session

import (
	"context"
	"errors"
	"fmt"
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
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/submodule"
)

// Session has the parts that work on a run: its workspaces, sandbox, judge and
// engine dependencies.
type Session struct {
	cmdline.Place
	Run    *store.Run
	Owner  *store.Owner
	Frozen *git.Frozen
	Trees  *worktree.Trees
	policy.Policy
	Sandbox   *isolation.Executor
	Snapshots atomic.Bool // a person chose confined = "snapshot" while the run went on
	Deps      engine.Deps
	Notices   *Notices               // the warnings of the run
	Contact   Contact                // how a person is reached while agents work
	agents    map[string]*agent.Spec // as they are recorded with the run
}

// Open makes the session of a run that this process owns. It returns an error if the recorded
// configuration, the sandbox, the workspaces or the risk rules cannot be used.
func Open(ctx context.Context, p *cmdline.Place, run *store.Run, owner *store.Owner) (*Session, error) {
	p.Keep()
	s := &Session{Place: *p, Run: run, Owner: owner, Notices: &Notices{w: p.Env.Stderr}}
	recorded, err := ReadConfig(owner.View())
	if err != nil {
		return nil, err
	}
	s.Contact, s.agents = recorded.Contact, recorded.Agents
	if s.Frozen, err = FrozenConfig(ctx, p, run); err != nil {
		return nil, err
	}
	self, err := p.Binary(p.Env.Self)
	if err != nil {
		return nil, err
	}
	s.Sandbox = &isolation.Executor{
		Project: &s.Project, Run: run, Settings: recorded.Settings, Self: self, Environ: p.Env.Environ, Step: p.Env.Step,
	}
	if s.Sandbox.Shims, err = InstallShims(self); err != nil {
		return nil, err
	}
	s.Policy = recorded.Policy
	if err := p.Given(&s.Sandbox.Settings); err != nil {
		return nil, err
	}
	if err := p.Cautious(&s.Policy); err != nil {
		return nil, err
	}
	if s.Sandbox.Found, err = FindIsolation(ctx, p, s.Sandbox.Settings); err != nil {
		return nil, err
	}
	trees, err := worktree.New(worktree.Config{
		Repo: p.Repo, Frozen: s.Frozen, Dir: p.State.Trees(run.ID), Trash: p.State.Trash(),
		LockFile: p.State.LockFile("worktrees"), Bases: p.State.Bases(), BaseSize: BaseSize(p), At: s.Sandbox.MountedAt(),
		Pool: p.State.Pool(), PoolSize: poolSize(p),
		Cores: runtime.NumCPU(), Step: p.Env.Step, Confine: s.Sandbox.Confine(),
		MaxFile: recorded.MaxFile, Modules: landing.ModuleSource{Repo: p.Repo, Stores: run.Modules()},
		Own: git.Hash(owner.View().Identity.Base.Commit),
	})
	if err != nil {
		return nil, err
	}
	s.Trees, s.Sandbox.Trees = trees, trees
	known, err := cmdline.PricedKinds(p.Env, recorded.Config)
	if err != nil {
		return nil, err
	}
	s.Deps = engine.Deps{
		Run: run, Journal: owner, Workspaces: trees,
		Launcher: isolation.Launcher(self, s.Sandbox.Level), Sandbox: s.Sandbox.Sandbox, Backend: s.Sandbox.Backend,
		Kinds: known, Self: self, Walled: s.Sandbox.Level != box.None && !s.Sandbox.Settings.Off(), Surroundings: cmdline.NewMachine(p.Env).Surroundings(),
		Unlock: func() error {
			return errors.Join(p.Repo.UnlockRefs(captureref.Run(run.ID)), submodule.UnlockStores(p.Repo, run.Modules()))
		},
		Disk: &limit.Disk{
			Dir: trees.Dir, Free: func() (int64, error) { return worktree.Free(trees.Dir) },
		},
		Memory:  admissionOf(p.Env),
		Version: cmdline.NewMachine(p.Env).VersionOf,
		Environ: p.Env.Environ, PassEnv: s.Sandbox.Settings.PassEnv, Root: p.Root(), Cores: runtime.NumCPU(),
		Now: time.Now, Warn: s.Notices.print,
	}
	s.Deps.Joiner, s.Deps.Prompts = s.Lander(), newMemories(ctx, s)
	return s, s.judgeActions(ctx, self)
}

// Recover puts a run in order whose process died; this process owns it. It returns an error if
// the work of an agent cannot be captured or the journal cannot be written.
func Recover(ctx context.Context, p *cmdline.Place, run *store.Run, owner *store.Owner) error {
	for _, notice := range owner.Notices {
		fmt.Fprintln(p.Env.Stderr, cmdline.Program+": "+termtext.Line(notice))
	}
	id, err := run.Identity()
	if err != nil {
		return err
	}
	v := store.Fold(id, owner.Records)
	config, err := EngineConfig(v)
	if err != nil {
		return err
	}
	if v.Status == store.RunRunning {
		v.Status, v.Reason, v.Died = store.RunStopped, store.ReasonDied, true
	}
	s, err := Open(ctx, p, run, owner)
	if err != nil {
		return err
	}
	if err := diskwatch.Release(run.Dir); err != nil {
		return err
	}
	progress := StartRecovery(p, run, v)
	defer progress.Close()
	s.Deps.Recovered = progress.Recovered
	return errors.Join(engine.Recover(ctx, s.Deps, config, v), s.Trees.Close(), control.Clear(run, p.Env.Getenv))
}

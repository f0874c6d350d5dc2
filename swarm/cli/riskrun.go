package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/risk/repository"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/riskcmd"
	"agentswarm/swarm/guard"
	"agentswarm/swarm/isolation"
	"agentswarm/swarm/policy"
)

// judgeActions gives the engine the judge of the run's actions. It puts guards into
// the PATH of agents where no sandbox is around them. With the sandbox switched off
// there are none.
func (b *bench) judgeActions(ctx context.Context, self string) error {
	j, err := policy.New(ctx, policy.Request{
		Run: b.run, Repo: b.Repo, Trees: b.trees, Policy: b.Policy, Rung: b.sandbox.Rung, Open: b.sandbox.Settings.Off(), Snapshots: &b.snapshots,
		Getenv: b.Env.Getenv, UserRules: riskcmd.UserRules(b.Env), SetupLayers: isolation.SetupLayers, Now: b.deps.Now,
		Warn: func(about string, err error) { b.deps.Warn(about + ": " + cmdline.OneLine(err)) },
	})
	if err != nil {
		return riskcmd.RefusedRules(err)
	}
	b.deps.Judge, b.deps.Ears = j, ears{run: b.run, getenv: b.Env.Getenv}
	if b.sandbox.Rung.Namespaces() || b.sandbox.Settings.Off() {
		return nil
	}
	programs, err := j.Programs()
	if err != nil {
		return riskcmd.RefusedRules(err)
	}
	b.sandbox.Guards, err = guard.Install(self, guard.Installed(programs, b.Env.Getenv("PATH")))
	return err
}

// sayGrants points out that grants of the working tree count for nothing.
func (b *bench) sayGrants(ctx context.Context) error {
	if b.Repo.Bare() || !fspath.Exists(filepath.Join(b.Repo.TopLevel, repository.AgentsFile)) {
		return nil
	}
	id, err := b.run.Identity()
	if err != nil {
		return err
	}
	differs, err := repository.GrantsDiffer(ctx, b.Repo, policy.GrantingCommit(id.Base))
	if differs {
		fmt.Fprintf(b.Env.Stderr, "grants: %s\n", uncommitted)
	}
	return err
}

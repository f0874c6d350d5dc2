package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"agentswarm/internal/fspath"
	"agentswarm/risk/repository"
	"agentswarm/swarm/guard"
	"agentswarm/swarm/policy"
)

// judgeActions gives the engine the judge of the run's actions. It puts guards into
// the PATH of agents where no sandbox is around them. With the sandbox switched off
// there are none.
func (b *bench) judgeActions(ctx context.Context, self string) error {
	j, err := policy.New(ctx, policy.Request{
		Run: b.run, Repo: b.repo, Trees: b.trees, Policy: b.Policy, Rung: b.rung, Open: b.isolation.open(), Snapshots: &b.snapshots,
		Getenv: b.env.Getenv, UserRules: b.env.userRules(), SetupLayers: setupLayers, Now: b.deps.Now,
		Warn: func(about string, err error) { b.deps.Warn(about + ": " + oneLine(err)) },
	})
	if err != nil {
		return refusedRules(err)
	}
	b.deps.Judge, b.deps.Ears = j, ears{run: b.run, getenv: b.env.Getenv}
	if b.rung.Namespaces() || b.isolation.open() {
		return nil
	}
	programs, err := j.Programs()
	if err != nil {
		return refusedRules(err)
	}
	b.guards, err = guard.Install(self, guard.Installed(programs, b.env.Getenv("PATH")))
	return err
}

// sayGrants points out that grants of the working tree count for nothing.
func (b *bench) sayGrants(ctx context.Context) error {
	if b.repo.Bare() || !fspath.Exists(filepath.Join(b.repo.TopLevel, repository.AgentsFile)) {
		return nil
	}
	id, err := b.run.Identity()
	if err != nil {
		return err
	}
	differs, err := repository.GrantsDiffer(ctx, b.repo, policy.GrantingCommit(id.Base))
	if differs {
		fmt.Fprintf(b.env.Stderr, "grants: %s\n", uncommitted)
	}
	return err
}

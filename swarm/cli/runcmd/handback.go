package runcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/plan"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing/handback"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
)

// NewAttempts returns the attempts of a run that this process owns.
func NewAttempts(c *cli.Context, p *cmdline.Place, run *store.Run, owner *store.Owner) handback.Runner {
	return &attempts{place: p, cli: c, run: run, owner: owner}
}

// attempts runs the attempts that a merge asks for. It implements [handback.Runner].
type attempts struct {
	place *cmdline.Place
	cli   *cli.Context
	run   *store.Run
	owner *store.Owner
}

// Run implements [handback.Runner]. Each call has workspaces of its own.
func (t *attempts) Run(_ context.Context, wishes []engine.RetryRequest) error {
	v := t.owner.View()
	config, err := session.EngineConfig(v)
	if err != nil {
		return err
	}
	if spending.Exhausted(v, config.Budget, time.Now()) {
		fmt.Fprintf(t.place.Env.Stderr, "%s: %v: the budget of the run is spent\n", cmdline.Program, handback.ErrNotStarted)
		return handback.ErrNotStarted
	}
	_, _, err = attemptOwned(t.place, t.cli, plan.DriveFlagsRead{}, &ownedRun{run: t.run, owner: t.owner, wishes: wishes})
	if errors.Is(err, plan.ErrDeclined) {
		fmt.Fprintf(t.place.Env.Stderr, "%s: %v: its agents are not to start\n", cmdline.Program, handback.ErrNotStarted)
		return handback.ErrNotStarted
	}
	return err
}

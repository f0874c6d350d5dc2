package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/control"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
)

// Reach connects with the process that owns a run. A process that has just
// begun does not listen yet, so Reach waits a moment. It returns an error if
// the process does not listen by then, and a usage error if the run has ended.
func Reach(ctx context.Context, p *cmdline.Place, run *store.Run) (*control.Client, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, reachTime, fmt.Errorf("run %s does not listen", run.ID))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		live := run.Live()
		client, err := control.Dial(ctx, run, p.Env.Getenv)
		var gone *control.GoneError
		switch {
		case err == nil:
			return client, nil
		case !errors.As(err, &gone):
			return nil, err
		case !live:
			return nil, exit.Usagef("run %s has just ended", run.ID)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// reachTime is how long a live run may take to listen.
const reachTime = 10 * time.Second

package runcmd

import (
	"context"
	"fmt"
	"sync"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/landing/lander"
)

// checksAhead are the checks for the merge at the end of a run while agents work.
type checksAhead struct {
	ended chan struct{} // has a value once an agent has ended
	stop  context.CancelFunc
	work  sync.WaitGroup
}

// startChecks starts the checks for a merge. It returns nil for a run without a merge, or
// whose merge has no check.
func startChecks(ctx context.Context, b *session.Session, merge *lander.MergeRequest) *checksAhead {
	if merge == nil || merge.Verify == "" {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	c := &checksAhead{ended: make(chan struct{}, 1), stop: stop}
	c.work.Go(func() {
		if err := b.Lander().CheckAhead(ctx, *merge, c.ended); err != nil {
			b.Deps.Warn(fmt.Sprintf("the checks for --merge begin again once all agents have ended: %v", err))
		}
	})
	return c
}

// agentEnded takes the patch of an agent into the next check.
func (c *checksAhead) agentEnded() {
	if c == nil {
		return
	}
	select {
	case c.ended <- struct{}{}:
	default: // the next check looks at all agents
	}
}

// end stops the check that runs, and waits for its end.
func (c *checksAhead) end() {
	if c != nil {
		c.stop()
		c.work.Wait()
	}
}

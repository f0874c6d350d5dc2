package cli

import (
	"context"

	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
)

// target refuses a --merge that could not land, before anything starts.
func (p *place) target(ctx context.Context, pl *plan) error {
	switch {
	case pl.into != "" && !pl.merge:
		return exit.Usagef("run: --into says where --merge lands; give --merge too")
	case pl.handBack && !pl.merge:
		return exit.Usagef("run: --hand-back is about the patches that --merge leaves out; give --merge too")
	case !pl.merge:
		return nil
	case pl.workflow.Count > 1:
		return exit.Usagef("run: --merge and --count exclude each other: of alternatives you choose one")
	}
	_, err := lander.TargetRef(ctx, p.Repo, pl.into)
	return err
}

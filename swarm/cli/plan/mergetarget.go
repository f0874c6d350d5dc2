package plan

import (
	"context"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
)

// findTarget refuses a --merge that could not land, before anything starts.
func findTarget(ctx context.Context, p *cmdline.Place, pl *Plan) error {
	switch {
	case pl.Into != "" && !pl.Merge:
		return exit.Usagef("run: --into says where --merge lands; give --merge too")
	case pl.handBack && !pl.Merge:
		return exit.Usagef("run: --hand-back is about the patches that --merge leaves out; give --merge too")
	case pl.attest && (!pl.Merge || pl.Config.Verify == ""):
		return exit.Usagef("run: --attest is about the check of --merge; give --merge and --verify CMD too")
	case !pl.Merge:
		return nil
	case pl.workflow.Count > 1:
		return exit.Usagef("run: --merge and --count exclude each other: of alternatives you choose one")
	}
	_, err := lander.TargetRef(ctx, p.Repo, pl.Into)
	return err
}

package plan

import (
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
)

// takeReview reads --review.
func (pl *Plan) takeReview(mode string) error {
	switch {
	case mode == "" || mode == "off":
		return nil
	case mode != landing.ReviewAuto:
		return exit.Usagef("run: --review %q: want auto or off", mode)
	case len(pl.workflow.Command) > 0:
		return exit.Usagef("run: --review is for agents that take a prompt, not for a command after --")
	case pl.Script != nil:
		return exit.Usagef("run: --review is for a prompt, --each or a list of tasks; a script reviews by std.stages or by agents of its own")
	}
	pl.Config.Review = landing.ReviewAuto
	return nil
}

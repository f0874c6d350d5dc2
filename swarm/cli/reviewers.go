package cli

import (
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/reviewer"
)

// newReviews has the patches of a run reviewed; nil where it has no reviews.
func (b *bench) newReviews(e *engine.Engine, r driveRequest) (*reviewer.Reviews, error) {
	return reviewer.New(reviewer.Request{
		Engine: e, Config: r.config, Kinds: cmdline.Kinds(b.Env).ByName(), Run: b.Run, Repo: b.Repo, Frozen: b.Frozen, Prior: r.prior, Warn: b.Deps.Warn,
	})
}

// newSubjects has a model name the commits of a run; nil where it names none.
func (b *bench) newSubjects(c engine.Config) engine.Subjects {
	return reviewer.NewNamer(reviewer.NamerRequest{
		Config: c, Kinds: cmdline.Kinds(b.Env).ByName(), Base: b.Owner.View().Identity.Base, Run: b.Run, Frozen: b.Frozen,
	})
}

// takeReview reads --review.
func (pl *plan) takeReview(mode string) error {
	switch {
	case mode == "" || mode == "off":
		return nil
	case mode != landing.ReviewAuto:
		return exit.Usagef("run: --review %q: want auto or off", mode)
	case len(pl.workflow.Command) > 0:
		return exit.Usagef("run: --review is for agents that take a prompt, not for a command after --")
	case pl.script != nil:
		return exit.Usagef("run: --review is for a prompt, --each or a list of tasks; a script reviews by std.stages or by agents of its own")
	}
	pl.config.Review = landing.ReviewAuto
	return nil
}

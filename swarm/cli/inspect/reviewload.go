package inspect

import (
	"context"
	"errors"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/store"
)

// reviewRequest names a run for its review.
func reviewRequest(p *cmdline.Place, v *store.View) collect.Request {
	return collect.Request{Repo: p.Repo, View: v, Lookup: p.Lookup}
}

// ReviewOfRun returns the review of the run of a selection. It returns an error if patches or rules
// cannot be read.
func ReviewOfRun(ctx context.Context, p *cmdline.Place, s *selection.Selection) (*collect.Review, error) {
	r, err := collect.Run(ctx, reviewRequest(p, s.View))
	return r, refusedMarks(err)
}

// refusedMarks is refused for a file with rules of marks that cannot be used.
func refusedMarks(err error) error {
	if of := (*collect.RulesError)(nil); errors.As(err, &of) {
		return cmdline.Refused(err)
	}
	return err
}

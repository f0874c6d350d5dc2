package cli

import (
	"context"
	"errors"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/review/collect"
	"agentswarm/swarm/store"
)

// reviewRequest names a run for its review.
func (p *place) reviewRequest(v *store.View) collect.Request {
	return collect.Request{Repo: p.Repo, View: v, Lookup: p.Lookup}
}

// reviewOfRun is the review of the run of a selection.
func (p *place) reviewOfRun(ctx context.Context, s *selection.Selection) (*collect.Review, error) {
	r, err := collect.Run(ctx, p.reviewRequest(s.View))
	return r, refusedMarks(err)
}

// refusedMarks is refused for a file with rules of marks that cannot be used.
func refusedMarks(err error) error {
	if of := (*collect.RulesError)(nil); errors.As(err, &of) {
		return cmdline.Refused(err)
	}
	return err
}

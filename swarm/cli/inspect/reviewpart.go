package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/selection"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/review/collect"
	reviewpart "agentswarm/swarm/review/part"
	"agentswarm/swarm/store"
)

// partAction makes a patch of its own from the accepted edits of each agent that
// is named.
func partAction(p *cmdline.Place, c *cli.Context, s *selection.Selection) error {
	if err := p.Personal("making patches"); err != nil {
		return err
	}
	var err error
	if s.View, err = s.Run.View(); err != nil { // with the verdicts of this command
		return err
	}
	r, err := ReviewOfRun(c.Context, p, s)
	if err != nil {
		return err
	}
	for _, named := range selection.Distinct(s.Named) {
		a := s.View.Agent(named.ID)
		if a.Patch() == nil {
			return exit.Usagef("accept: %s", lander.NoPatch(a))
		}
		edits, taken, err := r.Part(a.ID)
		if err != nil {
			return exit.Usagef("accept: %v", err)
		}
		name, err := collect.KeepPart(c.Context, collect.PartRequest{
			Repo: p.Repo, Run: s.Run, Agent: a, Edits: edits, Taken: taken,
		})
		if err != nil {
			return partRefused(err)
		}
		fmt.Fprintf(p.Env.Stdout, "%s/%s: a patch of %d of the %d edits of %s; no check has run on it\n", s.Run.ID, name, len(taken), len(edits), a.ID)
		fmt.Fprintf(p.Env.Stdout, "merge it with: %s merge %s/%s --verify COMMAND\n", p.Env.Calls, s.Run.ID, name)
	}
	return nil
}

// partRefused is an error about a file that cannot be taken apart.
func partRefused(err error) error {
	if whole, ok := errors.AsType[*reviewpart.WholeError](err); ok {
		return exit.Usagef("accept: %v", whole)
	}
	return err
}

// RefuseRejected returns a usage error if a part has an edit that a person rejected since.
func RefuseRejected(ctx context.Context, p *cmdline.Place, verb string, s *selection.Selection, works []*store.Agent) error {
	part, err := collect.FindRejected(ctx, reviewRequest(p, s.View), works)
	if err != nil || part == nil {
		return refusedMarks(err)
	}
	a := part.Agent
	return &exit.UsageError{
		Text:   fmt.Sprintf("%s: %s holds an edit that was rejected: %s", verb, patch.CopyName(a.ID, a.Copy), termtext.Line(part.Edit.Place().String())),
		Advice: fmt.Sprintf("accept that edit again, or make a new part with `%s accept %s/%s --part`", p.Env.Calls, s.Run.ID, a.ID),
	}
}

package lander

import (
	"cmp"
	"context"
	"errors"

	"agentswarm/internal/termtext"
	"agentswarm/merge"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// styleOf is how the commits of a merge are written.
func (ld *Lander) styleOf(ctx context.Context, said landing.StyleRequest, author landing.Author) landing.Style {
	s := landing.Style{Author: cmp.Or(said.Author, author), Message: said.Message, Trailers: said.Trailers, Squash: said.Squash}
	if user, ok := ld.Repo.User(ctx); ok {
		s.User = &user
	}
	return s
}

// checkStyle refuses a style that the commits cannot have, before a merge
// begins.
func checkStyle(s landing.Style, chosen []*store.Agent) error {
	err := s.Check(chosen)
	if many, ok := errors.AsType[*landing.ManyError](err); ok {
		return &refusal.Error{
			Text:   "merge: --message names one commit, and " + termtext.Count(many.Count, "patch", "patches") + " would land",
			Advice: "give --squash too, or name one agent",
		}
	}
	if err != nil {
		return &BlockedError{err}
	}
	return nil
}

// patches are the chosen agents' patches as a merge takes them.
func (ld *Lander) patches(chosen []*store.Agent, w mergeWork) ([]merge.Patch, error) {
	patches := make([]merge.Patch, 0, len(chosen))
	for _, a := range chosen {
		work := ld.workOf(a, a.Patch())
		work.Resolved, work.Verified = cmp.Or(w.resolved, landing.ResolvedText(a)), w.verified
		patch, err := w.style.Commit(work)
		if err != nil {
			return nil, err
		}
		patch.Markers = landing.MarkersOf(a)
		if patch.Origin = landing.OriginOf(a); patch.Origin != "" {
			patch.Resolves = landing.ResolutionOf(a)
		}
		patches = append(patches, patch)
	}
	return patches, nil
}

// commitOf is a patch of an agent as a merge takes it.
func (ld *Lander) commitOf(a *store.Agent, p *task.Patch, style landing.Style) (merge.Patch, error) {
	return style.Commit(ld.workOf(a, p))
}

func (ld *Lander) workOf(a *store.Agent, p *task.Patch) landing.Work {
	kind := agent.KindCommand
	if spec := ld.Agents[a.Call.Agent]; spec != nil {
		kind = spec.Kind
	}
	return landing.Work{Run: ld.Run.ID, Agent: a, Patch: p, Kind: kind, Title: engine.Title(a.ID, a.Call)}
}

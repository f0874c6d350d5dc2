package lander

import (
	"errors"
	"fmt"
	"slices"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
)

// NothingError says that there is no patch to merge.
type NothingError struct {
	Reason, Advice string
	// Done is set if all was merged before: the request of the user is fulfilled.
	Done bool
}

func (e *NothingError) Error() string { return "nothing to merge: " + e.Reason }

// Hint is the advice; it may be empty.
func (e *NothingError) Hint() string { return e.Advice }

// choose finds the patches to merge in their order, and those that only their
// names would take. It fills in the review mode of the request.
func choose(r landing.SelectRequest) (chosen, skipped []*store.Agent, err error) {
	v := r.View
	if len(r.Named) == 0 {
		config, err := engine.RecordedConfig(v)
		if err != nil {
			return nil, nil, err
		}
		r.Review = config.Review
	}
	s, err := landing.Select(r)
	var not *landing.RefusedError
	switch {
	case errors.As(err, &not):
		return nil, nil, refusedPatch(v, not, r.Ref)
	case err != nil:
		return nil, nil, err
	case len(s.Open) > 0:
		return nil, nil, &refusal.Error{
			Text:   "these are alternatives: name the one to merge: " + Names(s.Open),
			Advice: fmt.Sprintf("for example `swarm merge %s/%s`", v.Identity.Run, s.Open[0].ID),
		}
	case len(s.Chosen) == 0:
		return nil, nil, nothingChosen(v, s, r)
	default:
		return s.Chosen, s.Skipped, nil
	}
}

// refusedPatch words why a named patch is not merged.
func refusedPatch(v *store.View, e *landing.RefusedError, ref string) error {
	a, name := e.Agent, Names([]*store.Agent{e.Agent})
	switch e.Why {
	case landing.NoPatch:
		nothing := &NothingError{Reason: NoPatch(a)}
		if landing.Uncaptured(a) != nil {
			nothing.Advice = wayOfUncaptured(v, []*store.Agent{a})
		} else {
			nothing.Done = a.Result() != nil && a.Attempt > 0
		}
		return nothing
	case landing.WasRejected:
		return refusal.New("%s was rejected; accept it first, or try it again", name)
	case landing.HasLanded:
		return &NothingError{Done: true, Reason: fmt.Sprintf("%s landed on %s already", name, BranchName(ref))}
	case landing.RivalLanded:
		return &NothingError{Reason: fmt.Sprintf("%s, an alternative of %s, landed on %s already", e.Other.ID, a.ID, BranchName(ref))}
	case landing.AreRivals:
		return refusal.New("%s and %s are alternatives of each other: name one of them", e.Other.ID, a.ID)
	default:
		panic(fmt.Sprintf("unhandled refusal %d", e.Why))
	}
}

// nothingChosen words why a merge without names has no patch to take.
func nothingChosen(v *store.View, s landing.Selection, r landing.SelectRequest) error {
	switch {
	case s.Landed > 0:
		nothing := &NothingError{Done: true, Reason: fmt.Sprintf("%s of run %s landed on %s already",
			termtext.Count(s.Landed, "patch", "patches"), v.Identity.Run, BranchName(r.Ref))}
		if len(s.Skipped) > 0 {
			nothing.Reason += "; left out without its name: " + whyNot(r.Review, s.Skipped)
			nothing.Advice = wayOf(s.Skipped)
		}
		if len(s.Uncaptured) > 0 {
			nothing.Reason += "; " + notCaptured(s.Uncaptured)
		}
		for _, text := range unknownTexts(s.Unknown, r.Ref) {
			nothing.Reason += "; " + text
		}
		return nothing
	case len(s.Skipped) > 0:
		nothing := &NothingError{Reason: whyNot(r.Review, s.Skipped), Advice: wayOf(s.Skipped)}
		if len(s.Uncaptured) > 0 {
			nothing.Reason += "; " + notCaptured(s.Uncaptured)
		}
		return nothing
	case len(s.Uncaptured) > 0:
		return &NothingError{Reason: notCaptured(s.Uncaptured), Advice: wayOfUncaptured(v, s.Uncaptured)}
	default:
		return &NothingError{Done: true, Reason: "no agent of run " + v.Identity.Run + " changed anything"}
	}
}

// notCaptured says of agents that their work could not be captured, and why.
func notCaptured(agents []*store.Agent) string {
	reasons := make([]string, len(agents))
	for i, a := range agents {
		reasons[i] = NoPatch(a)
	}
	return termtext.List(reasons, 5)
}

// wayOfUncaptured says how work that could not be captured is kept after all. Agents
// without a workspace have to work again.
func wayOfUncaptured(v *store.View, agents []*store.Agent) string {
	if v.Shared != nil || slices.ContainsFunc(agents, func(a *store.Agent) bool { return a.Lease() != nil }) {
		return "remove the cause, and `swarm gc` captures the workspace; then merge"
	}
	return "`swarm retry` it"
}

// whyNot says of patches why a merge without their names leaves them out.
func whyNot(review string, skipped []*store.Agent) string {
	reasons := make([]string, len(skipped))
	for i, a := range skipped {
		reasons[i] = fmt.Sprintf("%s (%s) %v", a.ID, engine.Title(a.ID, a.Call), landing.Landable(review, a))
	}
	return termtext.List(reasons, 5)
}

// wayOf says how such patches are merged.
func wayOf(skipped []*store.Agent) string {
	it := "it"
	if len(skipped) > 1 {
		it = "one"
	}
	if slices.ContainsFunc(skipped, func(a *store.Agent) bool { return !a.Rejected() }) {
		return fmt.Sprintf("to merge %s, name it, or `swarm accept` it", it)
	}
	return "`swarm accept` it, or `swarm retry` it" // named or not, it was rejected
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// NothingError says that there is no patch to be merged.
type NothingError struct {
	Reason, Advice string
	// Done is set where all was merged before: the request of the user is
	// fulfilled.
	Done bool
}

func (e *NothingError) Error() string { return "nothing to merge: " + e.Reason }

// Hint says what would be right; it may be empty.
func (e *NothingError) Hint() string { return e.Advice }

// ExitCode is that of a refusal.
func (e *NothingError) ExitCode() int { return int(CodeUsage) }

// choose finds the patches to merge in their order, and those that only their
// names would take. It fills in the review mode of the request.
func choose(r landing.SelectRequest) (chosen, skipped []*store.Agent, err error) {
	v := r.View
	if len(r.Named) == 0 {
		config, err := engineConfig(v)
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
		return nil, nil, &UsageError{
			Text:   "these are alternatives: name the one to merge: " + labels(s.Open),
			Advice: fmt.Sprintf("for example `%s merge %s/%s`", program, v.Identity.Run, s.Open[0].ID),
		}
	case len(s.Chosen) == 0:
		return nil, nil, nothingChosen(v, s, r)
	default:
		return s.Chosen, s.Skipped, nil
	}
}

// refusedPatch words why a named patch is not merged.
func refusedPatch(v *store.View, e *landing.RefusedError, ref string) error {
	a, name := e.Agent, labels([]*store.Agent{e.Agent})
	switch e.Why {
	case landing.NoPatch:
		nothing := &NothingError{Reason: noPatch(a)}
		if landing.Uncaptured(a) != nil {
			nothing.Advice = wayOfUncaptured(v, []*store.Agent{a})
		} else {
			nothing.Done = a.Result() != nil && a.Attempt > 0
		}
		return nothing
	case landing.WasRejected:
		return usagef("%s was rejected; accept it first, or try it again", name)
	case landing.HasLanded:
		return &NothingError{Done: true, Reason: fmt.Sprintf("%s landed on %s already", name, branchName(ref))}
	case landing.RivalLanded:
		return &NothingError{Reason: fmt.Sprintf("%s, an alternative of %s, landed on %s already", e.Other.ID, a.ID, branchName(ref))}
	case landing.AreRivals:
		return usagef("%s and %s are alternatives of each other: name one of them", e.Other.ID, a.ID)
	default:
		panic(fmt.Sprintf("unhandled refusal %d", e.Why))
	}
}

// nothingChosen words why a merge without names has no patch to take.
func nothingChosen(v *store.View, s landing.Selection, r landing.SelectRequest) error {
	switch {
	case s.Landed > 0:
		nothing := &NothingError{Done: true, Reason: fmt.Sprintf("%s of run %s landed on %s already",
			Count(s.Landed, "patch", "patches"), v.Identity.Run, branchName(r.Ref))}
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
		reasons[i] = noPatch(a)
	}
	return listed(reasons, 5)
}

// wayOfUncaptured says how work that could not be captured is kept after all. Agents
// without a workspace have to work again.
func wayOfUncaptured(v *store.View, agents []*store.Agent) string {
	if v.Shared != nil || slices.ContainsFunc(agents, func(a *store.Agent) bool { return a.Lease() != nil }) {
		return fmt.Sprintf("remove the cause, and `%s gc` captures the workspace; then merge", program)
	}
	return fmt.Sprintf("`%s retry` it", program)
}

// whyNot says of patches why a merge without their names leaves them out.
func whyNot(review string, skipped []*store.Agent) string {
	reasons := make([]string, len(skipped))
	for i, a := range skipped {
		reasons[i] = fmt.Sprintf("%s (%s) %v", a.ID, engine.Title(a.ID, a.Call), landing.Landable(review, a))
	}
	return listed(reasons, 5)
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

// unfounded tells which of the patches that landed were built on one that is
// not on the branch.
func (r *mergeReport) unfounded() []string {
	there := map[string]bool{} // agents whose work is on the branch
	for _, id := range r.outcome.Empty {
		there[id] = true
	}
	for _, l := range r.outcome.Landed {
		there[l.ID] = true
	}
	labelled := map[string]*store.Agent{}
	for _, a := range r.view.Agents {
		if labelled[a.Call.Label] == nil {
			labelled[a.Call.Label] = a
		}
		there[string(a.ID)] = there[string(a.ID)] || landing.LandedOn(r.view, a, r.ref)
	}
	var found []string
	for _, l := range r.outcome.Landed {
		a := r.view.Agent(task.ID(l.ID))
		for _, label := range a.Call.DependsOn {
			need := labelled[label]
			if need != nil && patchOf(need) != nil && !there[string(need.ID)] {
				found = append(found, fmt.Sprintf("%s was built on %s",
					labels([]*store.Agent{a}), labels([]*store.Agent{need})))
			}
		}
	}
	return found
}

// blame finds, for conflicts with the branch itself, the patches of this run
// that an earlier merge landed there and that touch the same files.
func (b *bench) blame(ctx context.Context, v *store.View, report *mergeReport) error {
	touched := map[string][]string{} // path to agents
	for _, l := range v.Landings {
		if l.Verb != verbMerge || l.Ref != report.ref || !l.Stands() || len(report.outcome.Conflicts) == 0 {
			continue
		}
		if there, err := b.repo.Contains(ctx, report.old, git.Hash(l.New)); err != nil || !there {
			continue // the branch was moved away from it since
		}
		for _, id := range l.Agents {
			p := patchOf(v.Agent(id))
			if p == nil {
				continue // it is at work again
			}
			changes, err := b.repo.Changes(ctx, git.Hash(p.Base), git.Hash(p.Commit))
			if err != nil {
				return err
			}
			for _, ch := range changes {
				touched[ch.Path] = append(touched[ch.Path], string(id))
			}
		}
	}
	for i := range report.outcome.Conflicts {
		c := &report.outcome.Conflicts[i]
		if len(c.With) > 0 {
			continue
		}
		for _, path := range c.Paths {
			for _, id := range touched[path] {
				if !slices.Contains(c.With, id) {
					c.With = append(c.With, id)
				}
			}
		}
	}
	return nil
}

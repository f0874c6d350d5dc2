package cli

import (
	"context"
	"fmt"
	"slices"

	"agentswarm/swarm/engine"
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

// choose finds the patches to merge in plan order.
func choose(v *store.View, named []task.ID, ref string) (chosen, skipped []*store.Agent, err error) {
	if len(named) > 0 {
		chosen, err = chooseNamed(v, named, ref)
		return inPartOrder(chosen), nil, err
	}
	config, err := engineConfig(v)
	if err != nil {
		return nil, nil, err
	}
	landed, groups := 0, map[string][]*store.Agent{}
	var names []string // of groups, in the order of their agents
	for _, a := range v.Agents {
		switch {
		case landable(config.Review, a) != nil:
			if patchOf(a) != nil {
				skipped = append(skipped, a)
			}
		case landedOn(v, a, ref):
			landed++
		case rivalOn(v, a, ref) != nil:
		case a.Call.Group != "":
			if groups[a.Call.Group] == nil {
				names = append(names, a.Call.Group)
			}
			groups[a.Call.Group] = append(groups[a.Call.Group], a)
		default:
			chosen = append(chosen, a)
		}
	}
	for _, name := range names { // of several that are open the first is named
		alternatives := groups[name]
		if one := accepted(alternatives); len(one) == 1 {
			chosen = append(chosen, one[0])
			continue
		}
		return nil, nil, &UsageError{
			Text:   "these are alternatives: name the one to merge: " + labels(alternatives),
			Advice: fmt.Sprintf("for example `%s merge %s/%s`", program, v.Identity.Run, alternatives[0].ID),
		}
	}
	slices.SortFunc(chosen, func(a, b *store.Agent) int { return a.ID.Number() - b.ID.Number() })
	switch {
	case len(chosen) > 0:
		return inPartOrder(chosen), skipped, nil
	case landed > 0:
		nothing := &NothingError{Done: true, Reason: fmt.Sprintf("%s of run %s landed on %s already",
			Count(landed, "patch", "patches"), v.Identity.Run, branchName(ref))}
		if len(skipped) > 0 {
			nothing.Reason += "; left out without its name: " + whyNot(config.Review, skipped)
			nothing.Advice = wayOf(skipped)
		}
		return nil, nil, nothing
	case len(skipped) > 0:
		return nil, nil, &NothingError{Reason: whyNot(config.Review, skipped), Advice: wayOf(skipped)}
	default:
		return nil, nil, &NothingError{Done: true, Reason: "no agent of run " + v.Identity.Run + " changed anything"}
	}
}

// inPartOrder has those that worked in the shared workspace in the order in
// which their patches build on each other.
func inPartOrder(chosen []*store.Agent) []*store.Agent {
	return store.InPartOrder(chosen, func(a *store.Agent) int64 { return a.PartBy })
}

// whyNot says of patches why a merge that does not name them leaves them out.
func whyNot(review string, skipped []*store.Agent) string {
	reasons := make([]string, len(skipped))
	for i, a := range skipped {
		reasons[i] = fmt.Sprintf("%s (%s) %v", a.ID, engine.Title(a.ID, a.Call), landable(review, a))
	}
	return listed(reasons, 5)
}

// wayOf says how patches are merged all the same.
func wayOf(skipped []*store.Agent) string {
	if slices.ContainsFunc(skipped, func(a *store.Agent) bool { return !rejected(a) }) {
		return "name it to merge it all the same, or `swarm accept` it"
	}
	return "`swarm accept` it, or `swarm retry` it" // named or not, it was rejected
}

func rejected(a *store.Agent) bool {
	return a.Review != nil && a.Review.Verdict == task.Rejected
}

// accepted are those of alternatives that somebody has accepted.
func accepted(alternatives []*store.Agent) []*store.Agent {
	return slices.DeleteFunc(slices.Clone(alternatives), func(a *store.Agent) bool {
		return a.Review == nil || a.Review.Verdict != task.Accepted
	})
}

func chooseNamed(v *store.View, named []task.ID, ref string) ([]*store.Agent, error) {
	want := map[task.ID]bool{}
	for _, id := range named {
		want[id] = true
	}
	groups := map[string]*store.Agent{}
	var chosen []*store.Agent
	for _, a := range v.Agents {
		if !want[a.ID] {
			continue
		}
		title := engine.Title(a.ID, a.Call)
		switch other := groups[a.Call.Group]; {
		case patchOf(a) == nil:
			return nil, &NothingError{Done: a.Result() != nil && a.Attempt > 0, Reason: noPatch(a)}
		case rejected(a):
			return nil, usagef("%s (%s) was rejected; accept it first, or try it again", a.ID, title)
		case landedOn(v, a, ref):
			return nil, &NothingError{Done: true, Reason: fmt.Sprintf("%s (%s) landed on %s already", a.ID, title, branchName(ref))}
		case rivalOn(v, a, ref) != nil:
			return nil, &NothingError{Reason: fmt.Sprintf("%s, an alternative of %s, landed on %s already",
				rivalOn(v, a, ref).ID, a.ID, branchName(ref))}
		case other != nil && a.Call.Group != "":
			return nil, usagef("%s and %s are alternatives of each other: name one of them", other.ID, a.ID)
		}
		groups[a.Call.Group] = a
		chosen = append(chosen, a)
	}
	return chosen, nil
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
		there[string(a.ID)] = there[string(a.ID)] || landedOn(r.view, a, r.ref)
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

// landedOn reports whether the changes of the agent stand on ref, by a landing or
// because a merge found them there.
func landedOn(v *store.View, a *store.Agent, ref string) bool {
	for _, id := range a.Landings {
		if l := v.Landing(id); l != nil && l.Verb == verbMerge && l.Ref == ref && l.Stands() {
			return true
		}
	}
	return slices.Contains(a.Found, ref)
}

// rivalOn is an alternative of the agent that landed on ref; nil for none.
func rivalOn(v *store.View, a *store.Agent, ref string) *store.Agent {
	for _, other := range v.Agents {
		if a.Call.Group != "" && other.Call.Group == a.Call.Group && other != a && landedOn(v, other, ref) {
			return other
		}
	}
	return nil
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

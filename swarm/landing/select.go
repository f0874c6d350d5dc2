package landing

import (
	"errors"
	"fmt"
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// The verbs of landings in the journal.
const (
	VerbMerge = "merge"
	VerbApply = "apply"
	VerbUndo  = "undo"
)

// SelectRequest asks which patches of a run a merge takes.
type SelectRequest struct {
	View  *store.View // required
	Ref   string      // the branch, such as refs/heads/main; required
	Named []task.ID   // agents that the user named; empty: all that a merge takes
	// Verified is set for a merge with a check, which tries refused patches again.
	Verified bool
	// Review is the review mode of the run. It does not matter for named agents.
	Review string
	// Missing are the landings that the branch does not have. Those that are gone are
	// forgotten in View.
	Missing Missing
}

// Selection is the answer to a [SelectRequest]. Without a chosen patch, either all
// have landed, or only names take those that are left, or nothing has changed.
type Selection struct {
	Chosen  []*store.Agent // to be merged, in this order
	Skipped []*store.Agent // have a patch that only a name takes
	Landed  int            // patches that stand on the branch
	// Unknown are those of them of which the branch has no commit. By name they are
	// merged again.
	Unknown []MissingAgent
	// Uncaptured are the agents whose work could not be kept as a patch.
	Uncaptured []*store.Agent
	// Open are the first alternatives among which the user has to choose. The merge
	// is refused then. Empty: there are none.
	Open []*store.Agent
}

// Select finds the patches that a merge takes. The error is a [*RefusedError] for
// a named agent that cannot be merged.
func Select(r SelectRequest) (Selection, error) {
	if len(r.Named) > 0 {
		chosen, err := selectNamed(r)
		return Selection{Chosen: inPartOrder(chosen)}, err
	}
	var s Selection
	groups := map[string][]*store.Agent{}
	var names []string // of groups, in the order of their agents
	for _, a := range r.View.Agents {
		err := Landable(r.Review, a)
		switch {
		case LandedOn(r.View, a, r.Ref): // by its name, if err is not nil
			s.Landed++
			if u := r.Missing.of(a.ID); u != nil && !slices.Contains(a.Found, r.Ref) {
				s.Unknown = append(s.Unknown, *u)
			}
		case err != nil && !errors.Is(err, ErrUndoes) && !(r.Verified && errors.Is(err, ErrRefused)):
			switch {
			case a.Patch() != nil:
				s.Skipped = append(s.Skipped, a)
			case Uncaptured(a) != nil:
				s.Uncaptured = append(s.Uncaptured, a)
			}
		case rivalOn(r.View, a, r.Ref) != nil:
		case a.Call.Group != "":
			if groups[a.Call.Group] == nil {
				names = append(names, a.Call.Group)
			}
			groups[a.Call.Group] = append(groups[a.Call.Group], a)
		default:
			s.Chosen = append(s.Chosen, a)
		}
	}
	for _, name := range names {
		alternatives := groups[name]
		accepted := slices.DeleteFunc(slices.Clone(alternatives), func(a *store.Agent) bool { return !a.Accepted() })
		if len(accepted) != 1 {
			return Selection{Open: alternatives}, nil
		}
		s.Chosen = append(s.Chosen, accepted[0])
	}
	slices.SortFunc(s.Chosen, func(a, b *store.Agent) int { return a.ID.Number() - b.ID.Number() })
	s.Chosen = inPartOrder(s.Chosen)
	return s, nil
}

// Refusal is why a named patch is not merged.
type Refusal int

// The refusals of named patches.
const (
	NoPatch     Refusal = iota + 1 // the agent left no patch, or has not ended
	WasRejected                    // a person rejected it
	HasLanded                      // it stands on the branch
	RivalLanded                    // Other, an alternative of it, stands on the branch
	AreRivals                      // Other, an alternative of it, is named too
)

// RefusedError is a named patch that cannot be merged.
type RefusedError struct {
	Why   Refusal      // required
	Agent *store.Agent // required
	Other *store.Agent // the alternative; nil for the first three refusals
}

func (e *RefusedError) Error() string {
	switch e.Why {
	case NoPatch:
		return fmt.Sprintf("%s has no patch", e.Agent.ID)
	case WasRejected:
		return fmt.Sprintf("%s was rejected", e.Agent.ID)
	case HasLanded:
		return fmt.Sprintf("%s has landed", e.Agent.ID)
	case RivalLanded:
		return fmt.Sprintf("%s, an alternative of %s, has landed", e.Other.ID, e.Agent.ID)
	case AreRivals:
		return fmt.Sprintf("%s and %s are alternatives", e.Other.ID, e.Agent.ID)
	default:
		panic(fmt.Sprintf("unhandled refusal %d", e.Why))
	}
}

func selectNamed(r SelectRequest) ([]*store.Agent, error) {
	groups := map[string]*store.Agent{}
	var chosen []*store.Agent
	for _, a := range r.View.Agents {
		if !slices.Contains(r.Named, a.ID) {
			continue
		}
		switch other := groups[a.Call.Group]; {
		case a.Patch() == nil:
			return nil, &RefusedError{Why: NoPatch, Agent: a}
		case a.Rejected():
			return nil, &RefusedError{Why: WasRejected, Agent: a}
		case LandedOn(r.View, a, r.Ref) && !r.Missing.doubts(r.View, a):
			return nil, &RefusedError{Why: HasLanded, Agent: a}
		case rivalOn(r.View, a, r.Ref) != nil:
			return nil, &RefusedError{Why: RivalLanded, Agent: a, Other: rivalOn(r.View, a, r.Ref)}
		case other != nil && a.Call.Group != "":
			return nil, &RefusedError{Why: AreRivals, Agent: a, Other: other}
		}
		groups[a.Call.Group] = a
		chosen = append(chosen, a)
	}
	return chosen, nil
}

// inPartOrder sorts the agents of the shared workspace so that each patch follows
// those that it builds on.
func inPartOrder(chosen []*store.Agent) []*store.Agent {
	return store.InPartOrder(chosen, func(a *store.Agent) int64 { return a.PartBy })
}

// LandedOn reports whether the changes of the agent stand on a branch, by a
// landing or because a merge found them there.
func LandedOn(v *store.View, a *store.Agent, ref string) bool {
	for _, id := range a.Landings {
		if landedBy(v.Landing(id), ref) {
			return true
		}
	}
	return slices.Contains(a.Found, ref)
}

// rivalOn is an alternative of the agent that landed on the branch; nil for none.
func rivalOn(v *store.View, a *store.Agent, ref string) *store.Agent {
	for _, other := range v.Agents {
		if a.Call.Group != "" && other.Call.Group == a.Call.Group && other != a && LandedOn(v, other, ref) {
			return other
		}
	}
	return nil
}

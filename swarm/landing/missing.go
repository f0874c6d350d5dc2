package landing

import (
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// MissingRequest asks which landings of a run are no longer on a branch.
type MissingRequest struct {
	View *store.View // required
	Ref  string      // the branch, such as refs/heads/main; required
	Tip  git.Hash    // of the branch; empty: there is no such branch
	// Contains reports whether commit is ancestor, or has it in its past. It is false
	// for a commit that is not in the repository. Required.
	Contains func(commit, ancestor git.Hash) (bool, error)
}

// Missing are the agents that landed on a branch, and of whose landings none is on it
// now. The zero value has none.
type Missing struct {
	// Gone are the agents whose changes the branch does not have: it was reset to a
	// commit before their landing, or was deleted.
	Gone []task.ID
	// Unknown are the agents whose changes may be on the branch in other commits, such
	// as those of a rebase.
	Unknown []MissingAgent
	ref     string
}

// MissingAgent is an agent whose landing is not on the branch.
type MissingAgent struct {
	ID     task.ID
	Commit git.Hash // of its last landing
}

// FindMissing compares the landings of a run with the branch. The errors are those of
// Contains.
func FindMissing(r MissingRequest) (Missing, error) {
	m := Missing{ref: r.Ref}
	places := map[int]place{}
	for _, a := range r.View.Agents {
		var last *store.Landing
		at := present
		for _, id := range slices.Backward(a.Landings) {
			l := r.View.Landing(id)
			if !landedBy(l, r.Ref) {
				continue
			}
			p, known := places[id]
			if !known {
				var err error
				if p, err = placeOf(r, git.Hash(l.New)); err != nil {
					return Missing{}, err
				}
				places[id] = p
			}
			if last == nil {
				last, at = l, p
			}
			if p == present {
				at = present
				break
			}
		}
		switch {
		case at == present:
		case at == gone && !ofCopy(last, a.ID):
			m.Gone = append(m.Gone, a.ID)
		default: // a merge without names takes no copy
			m.Unknown = append(m.Unknown, MissingAgent{ID: a.ID, Commit: git.Hash(last.New)})
		}
	}
	return m, nil
}

// place is where the commit of a landing is, as seen from a branch.
type place int

const (
	present place = iota // in the past of the branch
	gone                 // the branch is in its past
	unknown              // elsewhere
)

func placeOf(r MissingRequest, commit git.Hash) (place, error) {
	if r.Tip == "" {
		return gone, nil
	}
	if there, err := r.Contains(r.Tip, commit); err != nil || there {
		return present, err
	}
	before, err := r.Contains(commit, r.Tip)
	if err != nil || !before {
		return unknown, err
	}
	return gone, nil
}

// ofCopy reports whether a landing took a copy of the agent's workspace.
func ofCopy(l *store.Landing, id task.ID) bool {
	return slices.ContainsFunc(l.Copies, func(name string) bool {
		of, _, ok := store.CopyOf(name)
		return ok && of == id
	})
}

// Forget shows the agents that are gone from the branch as not landed there, and the
// changes that merges found there as not found: these may be gone with them.
func (m Missing) Forget(v *store.View) {
	if len(m.Gone) == 0 {
		return
	}
	for _, a := range v.Agents {
		a.Found = slices.DeleteFunc(a.Found, func(ref string) bool { return ref == m.ref })
		if slices.Contains(m.Gone, a.ID) {
			a.Landings = slices.DeleteFunc(a.Landings, func(id int) bool { return landedBy(v.Landing(id), m.ref) })
		}
	}
}

// of is the agent among those that are unknown; nil if it is none of them.
func (m Missing) of(id task.ID) *MissingAgent {
	at := slices.IndexFunc(m.Unknown, func(u MissingAgent) bool { return u.ID == id })
	if at < 0 {
		return nil
	}
	return &m.Unknown[at]
}

// doubts reports whether the changes of an agent may not be on the branch, although
// it landed there or was found there.
func (m Missing) doubts(v *store.View, a *store.Agent) bool {
	if m.of(a.ID) != nil {
		return true
	}
	landed := slices.ContainsFunc(a.Landings, func(id int) bool { return landedBy(v.Landing(id), m.ref) })
	return !landed && len(m.Unknown) > 0
}

// landedBy reports whether a landing is a merge onto a branch that stands.
func landedBy(l *store.Landing, ref string) bool {
	return l != nil && l.Verb == VerbMerge && l.Ref == ref && l.Stands()
}

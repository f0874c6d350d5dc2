package landing

import (
	"slices"

	"agentswarm/merge"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// JoinedRequest asks which patches of a merge, which moved a branch several
// times, the branch has.
type JoinedRequest struct {
	Landed []merge.Landed // with each move, in order; a patch may be there twice
	Tip    git.Hash       // of the branch; empty: there is no such branch
	Last   *store.Landing // the last landing of the run that stands; nil: there is none
	// Contains reports whether commit is ancestor, or has it in its past. Required.
	Contains func(commit, ancestor git.Hash) (bool, error)
}

// Joined is the answer to a [JoinedRequest].
type Joined struct {
	Landed []merge.Landed // on the branch, in order
	Left   []string       // ids of patches that landed, and are no longer on the branch
	// Undoes are the ids of the patches that an undo takes back: these, some of them, or
	// also those of a merge that this one continues.
	Undoes []string
}

// FindJoined compares the moves of a merge with the branch. The errors are those of
// Contains.
func FindJoined(r JoinedRequest) (Joined, error) {
	var j Joined
	for _, l := range r.Landed {
		there := false
		if r.Tip != "" {
			var err error
			if there, err = r.Contains(r.Tip, l.Commit); err != nil {
				return Joined{}, err
			}
		}
		if there {
			j.Landed = append(j.Landed, l)
		} else if !slices.Contains(j.Left, l.ID) {
			j.Left = append(j.Left, l.ID)
		}
	}
	at := func(id string) bool {
		return slices.ContainsFunc(j.Landed, func(l merge.Landed) bool { return l.ID == id })
	}
	j.Left = slices.DeleteFunc(j.Left, at) // it landed again
	if r.Last == nil || git.Hash(r.Last.New) != r.Tip {
		return j, nil // an undo refuses to move the branch
	}
	for _, id := range r.Last.Agents {
		j.Undoes = append(j.Undoes, string(id))
	}
	return j, nil
}

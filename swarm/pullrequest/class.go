package pullrequest

import (
	"context"
	"fmt"
	"slices"

	"agentswarm/swarm/review"
	"agentswarm/swarm/review/part"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// ClassRequest asks for the edits of a class in the patches that landed.
type ClassRequest struct {
	Quarantine *git.Quarantine // required; has the commits afterwards
	Changes    []*Change       // the landed changes
	Class      *review.Class   // required
	// Edits are all edits of the patch of an agent, and Patch is that patch; nil where
	// there is none. Both are required.
	Edits func(task.ID) []*review.Edit
	Patch func(task.ID) *task.Patch
}

// EmptyClassError names a class of which no edit landed.
type EmptyClassError struct{ Class string }

func (e *EmptyClassError) Error() string { return fmt.Sprintf("no edit of class %s landed", e.Class) }

// ByClass is a part with the edits of a class, one commit for each agent. Its commits
// stand on the bases of the patches. Errors can be an [*EmptyClassError] or a
// [*part.WholeError].
func ByClass(ctx context.Context, r ClassRequest) (*Part, error) {
	p := &Part{Name: slug(r.Class.ID), About: "class " + r.Class.ID}
	for _, c := range r.Changes {
		for _, id := range c.Agents {
			made, err := r.change(ctx, c, id)
			if err != nil {
				return nil, err
			}
			if made != nil {
				p.Pieces = append(p.Pieces, Piece{Change: made})
			}
		}
	}
	if len(p.Pieces) == 0 {
		return nil, &EmptyClassError{r.Class.ID}
	}
	return p, nil
}

// change is a commit with the edits of an agent in the class; nil where it has none.
func (r *ClassRequest) change(ctx context.Context, c *Change, id task.ID) (*Change, error) {
	patch, taken := r.Patch(id), map[*review.Edit]bool{}
	for _, e := range r.Class.Members {
		if e.Patch == string(id) {
			taken[e] = true
		}
	}
	if patch == nil || len(taken) == 0 {
		return nil, nil
	}
	made := &Change{Parent: git.Hash(patch.Base), Author: c.Author, Message: c.Message, Agents: []task.ID{id}}
	for e := range taken {
		made.Paths = append(made.Paths, e.Path)
	}
	slices.Sort(made.Paths)
	made.Paths = slices.Compact(made.Paths)
	var err error
	made.Commit, err = part.Commit(ctx, part.Request{
		Quarantine: r.Quarantine, Base: made.Parent, Commit: git.Hash(patch.Commit),
		Edits: r.Edits(id), Taken: taken, Message: c.Message, Person: c.Author,
	})
	return made, err
}

package landing

import (
	"context"
	"fmt"

	"agentswarm/merge"
	"agentswarm/worktree/git"
)

// Joins merges the sets of a landing that moves the branch after each set that has
// passed. Each set begins with the set before, so only its other patches are merged,
// onto its commit.
type Joins struct {
	Quarantine *git.Quarantine // required
	// Onto is the commit of the last set; of the branch, before the first.
	Onto      git.Hash   // required
	Committer git.Person // Landed and Empty are the results of all patches, in order, as in [merge.Outcome].
	// Landed and Empty are all that became of the patches, in order, as in
	// [merge.Outcome].
	Landed []merge.Landed
	Empty  []string

	merged int // so many patches of the set were merged
}

// Rest returns the ids of a set that were not merged yet.
func (j *Joins) Rest(set []string) []string { return set[j.merged:] }

// Merge merges the patches of a set that were not merged yet. It returns an error
// if the result is another tree than that which passed.
func (j *Joins) Merge(ctx context.Context, patches []merge.Patch, passed git.Hash) (*merge.Outcome, error) {
	out, err := merge.Merge(ctx, j.Quarantine, merge.Request{Onto: j.Onto, Patches: patches, Committer: j.Committer})
	if err == nil && out.Tree != passed {
		err = fmt.Errorf("merge: tree %s is not the tree that passed the check", out.Tree.Short())
	}
	return out, err
}

// Moved notes that the branch has the outcome of [Joins.Merge].
func (j *Joins) Moved(out *merge.Outcome) {
	j.merged += len(out.Landed) + len(out.Empty)
	j.Onto = out.Commit
	j.Landed = append(j.Landed, out.Landed...)
	j.Empty = append(j.Empty, out.Empty...)
}

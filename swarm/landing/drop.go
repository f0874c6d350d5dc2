package landing

import (
	"fmt"
	"slices"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// DropRequest asks how to land the last landing of a run again without some agents.
type DropRequest struct {
	View   *store.View // required
	Ref    string      // the branch; required
	Agents []task.ID   // to be left out; required
	Copies []string    // names of copies among them, if a copy is named
	// TreeOf returns the tree of a commit. Required.
	TreeOf func(commit git.Hash) (git.Hash, error)
}

// Drop is the answer to a [DropRequest]: the landing is taken back, and the patches
// that are left are merged with the same check.
type Drop struct {
	Landing *store.Landing
	Left    []string // names of agents, of copies of their workspaces, or of attempts, in order
	Command string   // text of the check; empty: there was none, or it is not known
}

// DropError says why a landing cannot be made again without an agent.
type DropError struct {
	Reason string
	// Undone is set if the last merge had these agents and was undone. Its
	// patches are open, and a merge of the remaining patches completes the
	// request.
	Undone *Drop
}

func (e *DropError) Error() string { return e.Reason }

// FindDrop finds the landing. An agent that is not in it is a [*DropError], as is a
// last landing on another branch or by another command.
func FindDrop(r DropRequest) (Drop, error) {
	if l := lastUndone(r.View); l != nil && r.isIn(l) {
		d, err := r.drop(l)
		if err == nil {
			err = &DropError{Reason: "the last merge is taken back already, and its patches are open", Undone: &d}
		}
		return d, err
	}
	d := Drop{Landing: r.View.LastLanding()}
	switch l := d.Landing; {
	case l == nil:
		return d, &DropError{Reason: "the run has no merge that was not undone"}
	case l.Verb != VerbMerge || l.Ref != r.Ref:
		return d, &DropError{Reason: fmt.Sprintf("the last landing of the run is not a merge onto %s", r.Ref)}
	}
	for _, id := range r.Agents {
		if !slices.Contains(d.Landing.Agents, id) {
			return d, &DropError{Reason: fmt.Sprintf("%s is not in the last merge of the run", id)}
		}
	}
	for _, name := range r.Copies {
		if !slices.Contains(d.Landing.Copies, name) {
			return d, &DropError{Reason: fmt.Sprintf("%s is not in the last merge of the run", name)}
		}
	}
	return r.drop(d.Landing)
}

// lastUndone is the last landing of a run, if it was taken back; nil otherwise.
func lastUndone(v *store.View) *store.Landing {
	for _, l := range slices.Backward(v.Landings) {
		switch {
		case l.Of != 0 || l.Outcome == nil || !l.Outcome.OK:
			continue
		case l.Undone:
			return v.Joined(l)
		}
		return nil
	}
	return nil
}

// isIn reports whether a landing is a merge onto the branch that has all the agents.
func (r DropRequest) isIn(l *store.Landing) bool {
	if l.Verb != VerbMerge || l.Ref != r.Ref {
		return false
	}
	for _, id := range r.Agents {
		if !slices.Contains(l.Agents, id) {
			return false
		}
	}
	for _, name := range r.Copies {
		if !slices.Contains(l.Copies, name) {
			return false
		}
	}
	return true
}

// drop is the rest of a landing, with its check.
func (r DropRequest) drop(l *store.Landing) (Drop, error) {
	d := Drop{Landing: l}
	for _, id := range d.Landing.Agents {
		if slices.Contains(r.Agents, id) {
			continue
		}
		name := string(id)
		for _, c := range d.Landing.Copies {
			if of, _, ok := store.CopyOf(c); ok && of == id {
				name = c
			}
		}
		for _, earlier := range d.Landing.Earlier {
			if of, _, ok := store.AttemptOf(earlier); ok && of == id {
				name = earlier
			}
		}
		d.Left = append(d.Left, name)
	}
	if d.Command = d.Landing.Command; d.Command != "" {
		return d, nil // records of older versions do not name it
	}
	tree, err := r.TreeOf(git.Hash(d.Landing.New))
	if err != nil {
		return d, err
	}
	for _, v := range r.View.Verdicts {
		if v.Passed && v.Tree == string(tree) {
			d.Command = v.Command
		}
	}
	return d, nil
}

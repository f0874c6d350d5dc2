package verdict

import (
	"fmt"

	"agentswarm/swarm/review"
	"agentswarm/swarm/task"
)

// PartError says why no part is made of a patch.
type PartError struct {
	ID  task.ID
	Why string
}

func (e *PartError) Error() string { return fmt.Sprintf("%s: %s", e.ID, e.Why) }

// Part returns the edits of an agent's patch, and those that are accepted. Errors
// are of type [*PartError].
func (r *Review) Part(id task.ID) (all []*review.Edit, accepted map[*review.Edit]bool, err error) {
	all, accepted = r.edits[string(id)], map[*review.Edit]bool{}
	for _, e := range all {
		if r.Verdict(e) == task.Accepted {
			accepted[e] = true
		}
	}
	switch len(accepted) {
	case 0:
		return nil, nil, &PartError{id, "no edit of its patch is accepted"}
	case len(all):
		return nil, nil, &PartError{id, "all edits of its patch are accepted: it can be merged whole"}
	}
	return all, accepted, nil
}

// RejectedIn returns the edits of a part of an agent's patch that a person
// rejected, in this attempt or an earlier attempt.
func (r *Review) RejectedIn(id task.ID, part []review.File) []*review.Edit {
	w := r.works[string(id)]
	if w == nil {
		return nil
	}
	x := &review.Index{}
	x.Put(&review.Patch{ID: string(id), Files: part})
	decided := x.Decide(string(id), decisions(w.Made))
	var rejected []*review.Edit
	for _, e := range x.Edits() {
		if d, ok := decided.On(e); ok && d.Verdict == task.Rejected {
			rejected = append(rejected, e)
		}
	}
	return rejected
}

// EditsOf are all edits of an agent's patch.
func (r *Review) EditsOf(id task.ID) []*review.Edit { return r.edits[string(id)] }

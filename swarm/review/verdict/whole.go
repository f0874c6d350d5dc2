package verdict

import (
	"context"

	"agentswarm/swarm/event"
	"agentswarm/swarm/review"
	"agentswarm/swarm/task"
)

// Whole are the keys of all edits of a patch, for a verdict on all of it.
func Whole(id task.ID, files []review.File) []task.EditKey {
	x := &review.Index{}
	x.Put(&review.Patch{ID: string(id), Files: files})
	var keys []task.EditKey
	for _, e := range x.Edits() {
		keys = append(keys, e.Key())
	}
	return keys
}

// Unread is a patch that could not be read.
type Unread struct {
	ID  task.ID
	Err error
}

// WholeEdits are verdicts on all edits of the patches that marks are on, so that
// they hold for the same edits of later attempts. A patch that cannot be read has
// none: unread names it. The error is that of ctx.
func WholeEdits(ctx context.Context, marks []event.Reviewed,
	read func(context.Context, task.ID) ([]review.File, error),
) (all []event.EditsReviewed, unread []Unread, err error) {
	for _, m := range marks {
		files, err := read(ctx, m.Agent)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			unread = append(unread, Unread{m.Agent, err})
			continue
		}
		if keys := Whole(m.Agent, files); len(keys) > 0 {
			all = append(all, event.EditsReviewed{Agent: m.Agent, Attempt: m.Attempt, Verdict: m.Verdict, Reason: m.Reason, Edits: keys})
		}
	}
	return all, unread, nil
}

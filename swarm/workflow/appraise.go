package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// evidence returns the known facts of an agent's work. It returns the recorded
// facts if an earlier owner recorded them, because a reviewer relied on them.
func (d *driver) evidence(ctx context.Context, r *script.Evidence) (json.RawMessage, error) {
	request := EvidenceRequest{Result: d.ends[task.ID(r.ID)]}
	if call := d.labels[task.ID(r.ID)]; call != nil {
		request.Base = call.Base
	}
	if request.Result == nil {
		return nil, &script.Error{Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("evidence: no end of %q is known", r.ID)}
	}
	if r.Since != "" {
		at, err := d.resolve(ctx, r.Since)
		if err != nil {
			return nil, err
		}
		request.Since = at.Commit
	}
	key, err := d.key(r, script.Evidence{ID: r.ID, Since: request.Since})
	if err != nil {
		return nil, err
	}
	if earlier, ok := d.replay.entry(key); ok {
		return earlier.Value, nil
	}
	known, err := d.Tools.Evidence(ctx, request)
	if err != nil {
		return nil, err
	}
	value, err := answer(known, nil)
	if err != nil || d.Engine == nil {
		return value, err
	}
	return value, d.Engine.Note(&event.Entered{Verb: script.Verb(r), Key: key, Value: value})
}

// appraise records the findings of a reviewer, unless they are on record.
func (d *driver) appraise(r *script.Appraise) error {
	d.sort(d.Engine.Drain())
	for _, name := range r.IDs {
		id := task.ID(name)
		end := d.ends[id]
		if end == nil {
			return &script.Error{Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf("appraise: no end of %q is known", id)}
		}
		found := &event.Appraised{
			Agent: id, Attempt: end.Done().Attempts, Pass: r.Pass, By: task.ID(r.By), Problems: r.Problems,
		}
		if d.appraised(found) {
			continue
		}
		if err := d.Engine.Note(found); err != nil {
			return err
		}
	}
	return nil
}

// appraised reports whether an earlier owner has kept the same.
func (d *driver) appraised(e *event.Appraised) bool {
	if d.Prior == nil {
		return false
	}
	a := d.Prior.Agent(e.Agent)
	return a != nil && a.Appraisal != nil && a.Appraisal.Attempt == e.Attempt && a.Appraisal.Pass == e.Pass &&
		a.Appraisal.By == e.By && slices.Equal(a.Appraisal.Problems, e.Problems)
}

// choose records the outcome of a race, unless the record of an earlier owner
// says the same of each agent.
func (d *driver) choose(r *script.Choose) error {
	chosen := &event.Chosen{Won: agentIDs(r.Won), Lost: agentIDs(r.Lost)}
	if d.chosen(chosen) {
		return nil
	}
	return d.Engine.Note(chosen)
}

func agentIDs(names []string) []task.ID {
	var ids []task.ID
	for _, name := range names {
		ids = append(ids, task.ID(name))
	}
	return ids
}

// chosen reports whether an earlier owner has recorded the same.
func (d *driver) chosen(e *event.Chosen) bool {
	same := func(ids []task.ID, want task.Selection) bool {
		return !slices.ContainsFunc(ids, func(id task.ID) bool {
			a := d.Prior.Agent(id)
			return a == nil || a.Raced != want
		})
	}
	return d.Prior != nil && same(e.Won, task.Selected) && same(e.Lost, task.PassedOver)
}

package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// Do answers a request at once.
func (d *driver) Do(ctx context.Context, r script.Request) (json.RawMessage, error) {
	if err := d.halted(); err != nil {
		return nil, err
	}
	switch r := r.(type) {
	case *script.Call:
		return d.call(ctx, r)
	case *script.Merge:
		return d.merge(ctx, r)
	case *script.PatchText:
		p, err := d.patch(r.ID)
		if err != nil {
			return nil, err
		}
		text, err := d.Tools.Text(ctx, p.Patch)
		return answer(text, err)
	case *script.Evidence:
		return d.evidence(ctx, r)
	case *script.Repo:
		return d.repo(ctx, r)
	case *script.Nested:
		return d.nested(ctx, r)
	case *script.Cancel, *script.Appraise, *script.Choose, *script.Timer, *script.Untimer, *script.Check, *script.Land,
		*script.Question, *script.Send, *script.Log, *script.Phase:
		return nil, fmt.Errorf("a %s has no answer at once", script.Verb(r))
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// halted returns the reason that the script must end; nil if there is none. A
// script that never waits learns of it here.
func (d *driver) halted() error {
	if d.Engine == nil {
		return nil // it is only foreseen
	}
	select {
	case <-d.Engine.Halted():
		return ErrHalted
	default:
		return nil
	}
}

// answer is a value as JSON.
func answer(value any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// call starts an agent.
func (d *driver) call(ctx context.Context, r *script.Call) (json.RawMessage, error) {
	call, err := d.admit(ctx, r)
	if err != nil {
		return nil, err
	}
	id, err := d.Engine.Start(call)
	if errors.Is(err, engine.ErrNoParent) {
		return nil, optionf("%v", err) // a fault of its parent does not end the run
	}
	if err != nil {
		return nil, err
	}
	return d.begun(id, call)
}

// admit returns the call that a script asks for, if it may make another call.
func (d *driver) admit(ctx context.Context, r *script.Call) (*task.Call, error) {
	if d.calls >= d.Config.MaxAgents {
		return nil, &script.Error{Name: "Error", Code: script.CodeLimit, Message: fmt.Sprintf(
			"the script has made the %d calls that a run may make (--max-agents)", d.Config.MaxAgents)}
	}
	return d.narrow(ctx, r)
}

// begun answers a call with the agent that it became.
func (d *driver) begun(id task.ID, call *task.Call) (json.RawMessage, error) {
	d.calls++
	d.open[id], d.called[id], d.labels[id] = true, true, call
	return answer(map[string]task.ID{"id": id}, nil)
}

func (d *driver) repo(ctx context.Context, r *script.Repo) (json.RawMessage, error) {
	switch r.Verb {
	case "files":
		files, err := d.Tools.Files(ctx, r.Glob)
		return answer(orEmpty(files), err)
	case "read":
		text, err := d.Tools.Read(ctx, r.Path)
		return answer(text, err)
	case "grep":
		found, err := d.Tools.Grep(ctx, r)
		return answer(orEmpty(found), err)
	case "log":
		commits, err := d.Tools.Log(ctx, r)
		return answer(orEmpty(commits), err)
	default:
		return nil, optionf("repo.%s: there is files, read, grep and log", r.Verb)
	}
}

// orEmpty is a list that is [] in JSON where there is nothing in it.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// patch is the patch of an id that the script has seen.
func (d *driver) patch(id string) (Patch, error) {
	p, ok := d.patches[id]
	if !ok {
		return Patch{}, &script.Error{Name: "Error", Code: script.CodeUnknown, Message: fmt.Sprintf(
			"no patch %q: a patch is what the result of an agent carries", id)}
	}
	return p, nil
}

func (d *driver) patchList(ids []string) (patches []Patch, err error) {
	for _, id := range ids {
		p, err := d.patch(id)
		if err != nil {
			return nil, err
		}
		patches = append(patches, p)
	}
	return patches, nil
}

// merge merges patches, or returns the recorded result of the same merge.
func (d *driver) merge(ctx context.Context, r *script.Merge) (json.RawMessage, error) {
	request, key, err := d.mergeRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	if earlier, ok := d.replay.entry(key); ok {
		return earlier.Value, nil
	}
	merged, err := d.Tools.Merge(ctx, request)
	if err != nil {
		return nil, err
	}
	merged.Applied, merged.Conflicts = orEmpty(merged.Applied), orEmpty(merged.Conflicts)
	value, err := answer(merged, nil)
	if err != nil {
		return nil, err
	}
	return value, d.Engine.Note(&event.Entered{Verb: script.Verb(r), Key: key, Value: value})
}

// mergeRequest is a merge that a script asks for, and its key.
func (d *driver) mergeRequest(ctx context.Context, r *script.Merge) (m MergeRequest, key string, err error) {
	if m.Patches, err = d.patchList(r.Patches); err != nil {
		return m, "", err
	}
	m.Onto = d.Config.Base
	if r.Onto != "" {
		at, err := d.resolve(ctx, r.Onto)
		if err != nil {
			return m, "", err
		}
		m.Onto = at.Commit
	}
	key, err = d.key(r, script.Merge{Patches: r.Patches, Onto: m.Onto})
	return m, key, err
}

// nested finds a workflow that the script calls. The workflow found under an
// earlier owner stays the same.
func (d *driver) nested(ctx context.Context, r *script.Nested) (json.RawMessage, error) {
	// However the script that calls it was named.
	key, err := d.key(r, script.Nested{Name: r.Name, Path: r.Path})
	if err != nil {
		return nil, err
	}
	if earlier, ok := d.replay.entry(key); ok {
		return earlier.Value, nil
	}
	source, err := d.Nested(ctx, r)
	if err != nil {
		return nil, err
	}
	value, err := answer(source, nil)
	if err != nil {
		return nil, err
	}
	return value, d.Engine.Note(&event.Entered{Verb: script.Verb(r), Key: key, Value: value})
}

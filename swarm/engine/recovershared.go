package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// WorkspaceOf is the workspace of a record.
func WorkspaceOf(l *event.Leased) worktree.Workspace {
	return worktree.Workspace{
		Name: filepath.Base(l.Dir), Dir: l.Dir, Admin: l.Admin,
		Base: git.Hash(l.Base), Index: l.Index,
		Backend: worktree.Backend(l.Backend), At: l.At, Lower: l.Lower, Under: l.Under, Along: l.Along, Shell: l.Shell,
	}
}

// sharedRemains is the shared workspace that an earlier owner left, with the
// state of the agents in it.
type sharedRemains struct {
	space    *worktree.Workspace // nil where it is not to be let go
	kept     *worktree.Capture   // nil where it goes into the trash
	captured map[task.ID]*event.Captured
	failed   map[task.ID]*task.Failed
}

// recoverShared captures the shared workspace once. All uncaptured changes
// count as the part of the first running agent, since the parts cannot be told
// apart.
func recoverShared(ctx context.Context, d Deps, v *store.View) (*sharedRemains, error) {
	left := &sharedRemains{captured: map[task.ID]*event.Captured{}, failed: map[task.ID]*task.Failed{}}
	if v.Shared == nil {
		return left, nil
	}
	w := WorkspaceOf(v.Shared)
	if v.Shared.Admin == "" {
		// No agent has been in it.
		if err := d.Workspaces.Drop(ctx, w); err != nil {
			return nil, err
		}
		return left, left.free(d, v, "")
	}
	first, others := atWork(v)
	if first == nil {
		// Changes since the last capture belong to no agent.
		left.space = &w
		return left, nil
	}
	kept, err := d.Workspaces.Capture(ctx, partRequest(d, partOf{
		id: first.ID, attempt: first.Attempt, call: first.Call, space: w,
		tip: git.Hash(v.Tip), from: first.Part,
	}))
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // that says nothing of the workspace
		}
		left.miss(d, w, append(others, first), err)
		return left, nil
	}
	left.space, left.kept = &w, kept
	return left, left.record(d, v, append([]*store.Agent{first}, others...))
}

// atWork returns the uncaptured agents in the shared workspace; first is an
// agent that had entered it, if any had. A workspace whose folder was removed
// held no work any more.
func atWork(v *store.View) (first *store.Agent, others []*store.Agent) {
	for _, a := range v.Agents {
		l := a.Lease()
		if l == nil || !l.Shared || l.Dir != v.Shared.Dir || a.Captured != nil {
			continue
		}
		switch {
		case first == nil:
			first = a
		case a.Entered && !first.Entered:
			first, others = a, append(others, first)
		default:
			others = append(others, a)
		}
	}
	return first, others
}

// miss notes a capture that failed.
func (left *sharedRemains) miss(d Deps, w worktree.Workspace, agents []*store.Agent, err error) {
	for _, a := range agents {
		left.failed[a.ID] = notCaptured(err, w.Dir)
	}
	if gone := (*worktree.GoneError)(nil); errors.As(err, &gone) {
		left.space = &w
		return
	}
	d.Warn(fmt.Sprintf("the files of the shared workspace %s could not be captured: %v", w.Dir, err))
}

// record journals the capture for all that were at work.
func (left *sharedRemains) record(d Deps, v *store.View, agents []*store.Agent) error {
	first, kept := agents[0], left.kept
	tip := git.Hash(v.Tip)
	record := partEvent(kept, capturedEvent(first.ID, first.Attempt, *left.space, kept), tip, first.Part)
	if kept.Changed {
		holdToScope(record.Patch, first.Call, kept)
	}
	facts := []event.Event{record}
	left.captured[first.ID] = record
	var ids []task.ID
	for _, a := range agents[1:] {
		ids = append(ids, a.ID)
		none := &event.Captured{
			Agent: a.ID, Attempt: a.Attempt, Complete: kept.Complete, Patch: a.Part, Tip: record.Tip,
		}
		if kept.Changed {
			none.Notes = []string{fmt.Sprintf(
				"swarm ended while it was in the shared workspace: its last changes are in the patch of %s", first.ID)}
		}
		facts = append(facts, none)
		left.captured[a.ID] = none
	}
	if kept.Changed && len(ids) > 0 {
		record.Notes = append(record.Notes, sharedNote(ids))
	}
	_, err := d.Journal.AppendAll(facts)
	return err
}

// release lets the workspace go, after all that were in it have settled.
func (left *sharedRemains) release(ctx context.Context, d Deps, v *store.View) error {
	if left.space == nil {
		return nil
	}
	gone, err := d.Workspaces.Release(ctx, *left.space, left.kept)
	if err != nil {
		return fmt.Errorf("release %s: %w", left.space.Name, err)
	}
	return left.free(d, v, gone.Trashed)
}

// free journals that the workspace is gone, and no agent is in it.
func (left *sharedRemains) free(d Deps, v *store.View, trash string) error {
	var facts []event.Event
	for _, a := range v.Agents {
		for _, l := range a.Within() {
			facts = append(facts, &event.Released{Agent: a.ID, Attempt: l.Attempt})
		}
	}
	_, err := d.Journal.AppendAll(append(facts, &event.Released{Shared: true, Trash: trash}))
	if err == nil {
		v.Shared = nil
	}
	return err
}

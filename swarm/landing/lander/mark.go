package lander

import (
	"context"
	"errors"
	"path/filepath"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// MarkRequest asks for the patch of an agent on top of a commit, with markers in the files
// that conflict.
type MarkRequest struct {
	Agent  *store.Agent // shows the work to take; required
	Tip    git.Hash     // required
	Labels merge.Labels // of the markers; required
}

// Marked is a patch on a commit.
type Marked struct {
	*merge.Marked
	labels merge.Labels
	Hold   string // the ref that holds it; empty if the commit is the tip itself
}

// Markers are the conflict markers of the commit, as the journal has them; nil: there are
// none.
func (m *Marked) Markers() *event.Markers {
	if len(m.Marks) == 0 {
		return nil
	}
	out := &event.Markers{Ours: m.labels.Ours, Base: m.labels.Base, Theirs: m.labels.Theirs}
	for _, f := range m.Marks {
		out.Files = append(out.Files, event.MarkedFile{Path: f.Path, Separators: f.Separators})
	}
	return out
}

// Bring is [Lander.Mark] that returns the result as a patch on the commit too. The patch is
// nil if the commit has all of it.
func (ld *Lander) Bring(ctx context.Context, m MarkRequest) (*Marked, *task.Patch, error) {
	marked, err := ld.Mark(ctx, m)
	if err != nil || marked.Commit == m.Tip {
		return marked, nil, err
	}
	patch, err := ld.Patches.Between(ctx, task.Patch{
		Ref: marked.Hold, Base: string(m.Tip), Commit: string(marked.Commit), File: m.Agent.Patch().File,
	})
	return marked, patch, err
}

// Mark puts the patch of an agent onto a commit, and holds the result by a ref of the run.
func (ld *Lander) Mark(ctx context.Context, m MarkRequest) (_ *Marked, err error) {
	id := string(m.Agent.ID)
	q, err := ld.Frozen.Quarantine(filepath.Join(ld.Run.Dir, "landings", "mark-"+id, "objects"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	patch, err := ld.commitOf(m.Agent, m.Agent.Patch(), landing.Style{Author: landing.ByAgent})
	if err != nil {
		return nil, err
	}
	marked, err := merge.Mark(ctx, q, merge.MarkRequest{
		Onto: m.Tip, Patch: patch, Labels: m.Labels, Committer: ld.committer(ctx),
	})
	if err != nil || marked.Commit == m.Tip {
		return &Marked{Marked: marked}, err
	}
	held := &Marked{Marked: marked, labels: m.Labels, Hold: captureref.Marked(ld.Run.ID, id, marked.Commit)}
	return held, q.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: held.Hold, New: marked.Commit, Any: true}}, Have: []git.Hash{m.Tip},
		Message: "swarm merge " + ld.Run.ID,
	})
}

package lander

import (
	"context"
	"errors"
	"path/filepath"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
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
	Hold string // the ref that holds it; empty if the commit is the tip itself
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
	held := &Marked{Marked: marked, Hold: captureref.Marked(ld.Run.ID, id, marked.Commit)}
	return held, q.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: held.Hold, New: marked.Commit, Any: true}}, Have: []git.Hash{m.Tip},
		Message: "swarm merge " + ld.Run.ID,
	})
}

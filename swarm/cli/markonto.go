package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// markOnto asks for the patch of an agent on top of a commit.
type markOnto struct {
	agent  *store.Agent
	tip    git.Hash
	name   string        // the name of the tip for people
	labels *merge.Labels // filled in
}

// heldMark is a patch on a commit that a ref of ours holds.
type heldMark struct {
	*merge.Marked
	hold string // the ref; empty where the commit is the tip itself
}

// maxMarkLabel bounds the name of a side in a conflict marker, in characters.
const maxMarkLabel = 60

// markOnto puts the patch of an agent onto a commit and holds the result by a
// ref of ours.
func (v *visit) markOnto(ctx context.Context, m markOnto) (_ *heldMark, err error) {
	owner, err := v.own(ctx, v.run)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := v.bench(ctx, v.run, owner)
	if err != nil {
		return nil, err
	}
	return b.markOnto(ctx, m)
}

func (b *bench) markOnto(ctx context.Context, m markOnto) (_ *heldMark, err error) {
	id := string(m.agent.ID)
	*m.labels = merge.Labels{
		Ours: m.name + " " + m.tip.Short(), Base: "before both",
		Theirs: shortenEnd(Printable(fmt.Sprintf("%s (%s)", id, engine.Title(m.agent.ID, m.agent.Call))), maxMarkLabel),
	}
	q, err := b.frozen.Quarantine(filepath.Join(b.run.Dir, "landings", "mark-"+id, "objects"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	patch, err := b.commitOf(m.agent, patchOf(m.agent), landing.Style{Author: landing.ByAgent})
	if err != nil {
		return nil, err
	}
	marked, err := merge.Mark(ctx, q, merge.MarkRequest{
		Onto: m.tip, Patch: patch, Labels: *m.labels, Committer: b.committer(ctx),
	})
	if err != nil || marked.Commit == m.tip {
		return &heldMark{Marked: marked}, err
	}
	held := &heldMark{Marked: marked, hold: captureref.Marked(b.run.ID, id, marked.Commit)}
	return held, q.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{Ref: held.hold, New: marked.Commit, Any: true}}, Have: []git.Hash{m.tip},
		Message: "swarm merge " + b.run.ID,
	})
}

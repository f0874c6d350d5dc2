package lander

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// CombineRequest asks for a merge in memory, whose commit a ref of the run holds.
type CombineRequest struct {
	Onto      git.Hash      // required
	Patches   []merge.Patch // Committer is their author
	Committer git.Person    // required
	Objects   string        // a folder for new objects, which is removed; required
	// Ref is the ref that holds the commit. Required.
	Ref func(commit git.Hash) string
	// Whole keeps nothing of a merge in which a patch conflicts.
	Whole bool
}

// Combine merges patches onto a commit in memory. No branch moves. A patch that conflicts
// is left out.
func (ld *Lander) Combine(ctx context.Context, r CombineRequest) (_ *merge.Outcome, err error) {
	q, err := ld.Frozen.Quarantine(r.Objects)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	for i := range r.Patches {
		r.Patches[i].Author = r.Committer
	}
	out, err := merge.Merge(ctx, q, merge.Request{Onto: r.Onto, Patches: r.Patches, Committer: r.Committer})
	if err != nil {
		return nil, err
	}
	if out.Commit == r.Onto || r.Whole && len(out.Conflicts) > 0 {
		return out, nil
	}
	return out, q.Publish(ctx, git.PublishRequest{
		// An object with the name of the ref is the same commit.
		Refs:    []git.RefUpdate{{Ref: r.Ref(out.Commit), New: out.Commit, Any: true}},
		Have:    []git.Hash{r.Onto},
		Message: "swarm run " + ld.Run.ID,
	})
}

// PlainPatch is a patch of an agent for [Lander.Combine].
func (ld *Lander) PlainPatch(id string, agent task.ID, p *task.Patch) merge.Patch {
	return merge.Patch{
		ID: id, Label: fmt.Sprintf("%s of run %s", agent, ld.Run.ID), Base: git.Hash(p.Base), Commit: git.Hash(p.Commit),
	}
}

// Join implements [engine.Joiner]: it merges the patches that a call depends on, and
// holds the result by a ref of the attempt that starts from it. A conflict is an
// [*engine.JoinError].
func (ld *Lander) Join(ctx context.Context, r engine.JoinRequest) (git.Hash, error) {
	objects := filepath.Join(ld.Run.Attempt(r.Agent, r.Attempt), "base.objects")
	if err := os.RemoveAll(objects); err != nil {
		return "", err
	}
	c := CombineRequest{
		Onto: r.Base, Committer: git.Swarm(time.Now()), Objects: objects, Whole: true,
		Ref: func(git.Hash) string { return captureref.Start(captureref.Attempt(ld.Run.ID, r.Agent, r.Attempt)) },
	}
	for i := range r.Patches {
		c.Patches = append(c.Patches, ld.PlainPatch(string(r.From[i]), r.From[i], &r.Patches[i]))
	}
	out, err := ld.Combine(ctx, c)
	if err != nil {
		return "", fmt.Errorf("join its dependencies: %w", err)
	}
	if len(out.Conflicts) > 0 {
		c := out.Conflicts[0]
		return "", &engine.JoinError{Agent: task.ID(c.ID), Paths: c.Paths, With: taskIDs(c.With)}
	}
	return out.Commit, nil
}

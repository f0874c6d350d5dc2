package cli

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

// joiner makes the commits that agents start from which depend on others.
type joiner struct{ bench *bench }

// Join merges patches onto a base in memory and pins the result by a ref of
// the attempt that starts from it.
func (j joiner) Join(ctx context.Context, r engine.JoinRequest) (_ git.Hash, err error) {
	b := j.bench
	objects := filepath.Join(b.run.Attempt(r.Agent, r.Attempt), "base.objects")
	if err := os.RemoveAll(objects); err != nil {
		return "", err
	}
	q, err := b.frozen.Quarantine(objects)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	req := merge.Request{Onto: r.Base, Committer: git.Swarm(time.Now())}
	for i, p := range r.Patches {
		req.Patches = append(req.Patches, merge.Patch{
			ID: string(r.From[i]), Label: fmt.Sprintf("%s of run %s", r.From[i], b.run.ID),
			Base: git.Hash(p.Base), Commit: git.Hash(p.Commit), Author: req.Committer,
		})
	}
	out, err := merge.Merge(ctx, q, req)
	if err != nil {
		return "", fmt.Errorf("join what it depends on: %w", err)
	}
	if len(out.Conflicts) > 0 {
		c := out.Conflicts[0]
		conflict := &engine.JoinError{Agent: task.ID(c.ID), Paths: c.Paths}
		for _, id := range c.With {
			conflict.With = append(conflict.With, task.ID(id))
		}
		return "", conflict
	}
	if out.Commit == r.Base {
		return r.Base, nil
	}
	return out.Commit, q.Publish(ctx, git.PublishRequest{
		Refs: []git.RefUpdate{{
			Ref: captureref.Start(captureref.Attempt(b.run.ID, r.Agent, r.Attempt)), New: out.Commit, Any: true,
		}},
		Have: []git.Hash{r.Base}, Message: "swarm run " + b.run.ID,
	})
}

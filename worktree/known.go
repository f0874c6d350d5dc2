package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/workspace"
)

// readBase reads the index of a workspace's base. That of an overlay belongs
// to all workspaces of the base and is read once.
func (t *Trees) readBase(ctx context.Context, w workspace.Workspace) (*baseline.Index, error) {
	if w.Kind() != workspace.Overlay {
		return baseline.Read(t.Repo, w.Index)
	}
	at, err := os.Lstat(w.Index)
	if err != nil {
		return nil, err
	}
	return learn(ctx, t, func() (*baseline.Index, bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		known, ok := t.indexes[w.Index]
		ok = ok && os.SameFile(known.at, at) && known.at.ModTime().Equal(at.ModTime()) && known.at.Size() == at.Size()
		return known.index, ok
	}, func() (*baseline.Index, error) {
		b, err := baseline.Read(t.Repo, w.Index)
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.indexes == nil || len(t.indexes) >= maxIndexes {
			t.indexes = map[string]readIndex{}
		}
		t.indexes[w.Index] = readIndex{index: b, at: at}
		return b, nil
	})
}

// readIndex is an index that was read, and its file as it was before.
type readIndex struct {
	index *baseline.Index
	at    fs.FileInfo
}

// maxIndexes is the number of held indexes: a run has a single base, or a few.
const maxIndexes = 4

// learn returns a value that all captures need and that a single capture finds.
// Captures that begin at the same moment would each run a git for it. Both
// functions lock their own data.
func learn[T any](ctx context.Context, t *Trees, known func() (T, bool), find func() (T, error)) (T, error) {
	if v, ok := known(); ok {
		return v, nil
	}
	if err := t.learning.Acquire(ctx, 1); err != nil {
		var none T
		return none, fmt.Errorf("wait for what captures have in common: %w", context.Cause(ctx))
	}
	defer t.learning.Release(1)
	if v, ok := known(); ok {
		return v, nil
	}
	return find()
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/step"
	"agentswarm/worktree/workspace"
)

// alongForm matches the names of the layers of included files in the folder of
// a run. No workspace can have such a name.
var alongForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.along\.[0-9]+(\.new)?$`) })

// along is the layer of the included files, which all overlays of this process
// have below their bases; empty if no files are included. Overlays of an
// earlier process keep their layer, as a mounted layer must never change.
func (t *Trees) along(ctx context.Context) (string, error) {
	if t.Include.Empty() {
		return "", nil
	}
	known := func() string {
		t.commonMu.Lock()
		defer t.commonMu.Unlock()
		return t.layer
	}
	if dir := known(); dir != "" {
		return dir, nil
	}
	if err := t.making.Acquire(ctx, 1); err != nil {
		return "", fmt.Errorf("wait for what comes along: %w", context.Cause(ctx))
	}
	defer t.making.Release(1)
	if dir := known(); dir != "" {
		return dir, nil
	}
	dir, err := t.makeAlong(ctx)
	if err != nil {
		return "", err
	}
	t.commonMu.Lock()
	defer t.commonMu.Unlock()
	t.layer = dir
	return dir, nil
}

func (t *Trees) makeAlong(ctx context.Context) (dir string, err error) {
	for n := 1; ; n++ {
		dir = filepath.Join(t.Dir, fmt.Sprintf(".along.%d", n))
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		if err = os.Mkdir(dir+".new", 0o700); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	defer func() {
		if err != nil && !step.Died(err) {
			err = errors.Join(err, disk.RemoveAll(dir+".new"))
		}
	}()
	if err := t.fills.Enter(ctx); err != nil {
		return "", err
	}
	_, err = t.Include.Copy(ctx, dir+".new")
	t.fills.Leave(false)
	if err != nil {
		return "", err
	}
	if err := t.step("included"); err != nil {
		return "", err
	}
	return dir, os.Rename(dir+".new", dir)
}

// bring copies the included files into a workspace that was just filled, and
// records them. It skips files that the base has.
func (t *Trees) bring(ctx context.Context, w *workspace.Workspace) (err error) {
	// A crash may have left the record of another workspace of this name.
	if err := os.Remove(w.PlacedFile()); err != nil && !disk.Missing(err) {
		return err
	}
	if t.Include.Empty() {
		return nil
	}
	done, err := t.Include.Copy(ctx, w.Files())
	if err != nil {
		return err
	}
	if err := baseline.AddPlaced(ctx, w.PlacedFile(), done); err != nil {
		return err
	}
	return t.step("included")
}

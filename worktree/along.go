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
)

// alongForm is what, in the folder of a run, the layers of what came along are
// called. No workspace can be called so.
var alongForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.along\.[0-9]+(\.new)?$`) })

// along is the layer of the files that come along, which all overlays of this
// process have below their bases; empty where nothing comes along. Those of an
// earlier process keep theirs: what is mounted must never change.
func (t *Trees) along(ctx context.Context) (string, error) {
	if t.Include == nil || len(t.Include.paths) == 0 {
		return "", nil
	}
	known := func() string {
		t.basesMu.Lock()
		defer t.basesMu.Unlock()
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
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
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
		if err != nil && !died(err) {
			err = errors.Join(err, RemoveAll(dir+".new"))
		}
	}()
	if err := t.fills.enter(ctx); err != nil {
		return "", err
	}
	_, err = t.bringInto(ctx, dir+".new")
	t.fills.leave(false)
	if err != nil {
		return "", err
	}
	if err := t.step("included"); err != nil {
		return "", err
	}
	return dir, os.Rename(dir+".new", dir)
}

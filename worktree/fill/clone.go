package fill

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/overlay"
)

// cloners is how many goroutines clone the files of a workspace: more of them
// wait for each other in the file system. A copy keeps a processor busy.
func cloners(copies bool) int {
	if copies {
		return max(2, runtime.NumCPU())
	}
	return 4
}

// Clone clones the files of a checkout.
type Clone struct {
	From   overlay.Layers
	Index  string // of the checkout
	Copies bool   // copy files that cannot be cloned
	To     string

	mu    sync.Mutex // guards Stats
	Stats map[string]git.IndexStat
}

// Run clones the files of an index, which is sorted, several at once.
func (c *Clone) Run(ctx context.Context, entries []git.IndexEntry) error {
	entries = slices.DeleteFunc(entries, func(e git.IndexEntry) bool { return e.SkipWorktree })
	if err := c.folders(entries); err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e git.IndexEntry) bool { _, there := c.Stats[e.Path]; return there })
	for rest := c.From; len(rest) > 0 && len(entries) > 0; rest = rest[1:] {
		var here, lower []git.IndexEntry
		for _, e := range entries {
			if len(rest) == 1 || lies(rest[0], e) {
				here = append(here, e)
			} else {
				lower = append(lower, e)
			}
		}
		group, ctx := errgroup.WithContext(ctx)
		n := cloners(c.Copies)
		for part := range slices.Chunk(here, max(1, (len(here)+n-1)/n)) {
			group.Go(func() error { return c.some(ctx, rest[0], part) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		entries = lower
	}
	return nil
}

// Settled waits until the clock of the file system has moved on since the last
// file was made. It reports false where the clock is too slow to wait for.
func (c *Clone) Settled(ctx context.Context, dir string) (bool, error) {
	var last git.IndexTime
	for _, s := range c.Stats {
		if last.Before(s.CTime) {
			last = s.CTime
		}
	}
	now, err := baseline.Tick(ctx, dir, last)
	return last.Before(now), err
}

// lies reports whether a layer holds a file of the index itself.
func lies(layer string, e git.IndexEntry) bool {
	at, err := os.Lstat(filepath.Join(layer, e.Path))
	return err == nil && !at.IsDir() && !overlay.IsWhiteout(at)
}

// folders makes all folders, and those of submodules, with the modes they have.
func (c *Clone) folders(entries []git.IndexEntry) error {
	made := map[string]bool{"": true}
	var mkdir func(dir string) error
	mkdir = func(dir string) error {
		if made[dir] {
			return nil
		}
		if err := mkdir(disk.Parent(dir)); err != nil {
			return err
		}
		made[dir] = true
		layers := c.From.Folders(dir)
		if len(layers) == 0 {
			return &os.PathError{Op: "clone", Path: dir, Err: fs.ErrNotExist}
		}
		at, err := os.Lstat(layers[0])
		if err != nil {
			return err
		}
		to := filepath.Join(c.To, dir)
		if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Chmod(to, at.Mode().Perm()|0o700)
	}
	for _, e := range entries {
		dir := disk.Parent(e.Path)
		if e.Mode == baseline.ModeLink {
			dir = e.Path
		}
		if err := mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// some clones a part of the files of a layer, in sequence.
func (c *Clone) some(ctx context.Context, layer string, entries []git.IndexEntry) (err error) {
	from, to := &disk.Folders{Root: layer}, &disk.Folders{Root: c.To}
	clone := cloneFunc(git.CloneAt)
	if c.Copies {
		clone = new(git.Copier).At
	}
	stats := make(map[string]git.IndexStat, len(entries))
	defer func() {
		err = errors.Join(err, from.Close(), to.Close())
		c.mu.Lock()
		defer c.mu.Unlock()
		for path, s := range stats {
			c.Stats[path] = s
		}
	}()
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Mode == baseline.ModeLink {
			continue
		}
		src, name, err := from.Enter(e.Path)
		if err != nil {
			return &os.PathError{Op: "clone", Path: e.Path, Err: err}
		}
		dst, _, err := to.Enter(e.Path)
		if err != nil {
			return &os.PathError{Op: "clone", Path: e.Path, Err: err}
		}
		if stats[e.Path], err = cloneOne(clone, src, dst, name, e.Mode == baseline.ModeSym); err != nil {
			return &os.PathError{Op: "clone", Path: e.Path, Err: err}
		}
	}
	return nil
}

// cloneOne clones a file or makes a symlink anew, in open folders. A link of
// the index is a regular file where git does not make symlinks.
func cloneOne(clone cloneFunc, src, dst int, name string, link bool) (git.IndexStat, error) {
	var at unix.Stat_t
	if link {
		if err := unix.Fstatat(src, name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return git.IndexStat{}, err
		}
		link = at.Mode&unix.S_IFMT == unix.S_IFLNK
	}
	from, to := git.Place{Dir: src, Name: name}, git.Place{Dir: dst, Name: name}
	if !link {
		made, err := clone(from, to)
		return git.StatOf(&made), err
	}
	err := copySymlink(from, to, &at)
	if err == nil {
		err = unix.Fstatat(dst, name, &at, unix.AT_SYMLINK_NOFOLLOW)
	}
	return git.StatOf(&at), err
}

// cloneFunc is [git.CloneAt] or [git.Copier.At].
type cloneFunc func(from, to git.Place) (unix.Stat_t, error)

// copySymlink makes a symlink anew that looks like another in the open folder.
func copySymlink(from, to git.Place, like *unix.Stat_t) error {
	target := make([]byte, like.Size+1)
	n, err := unix.Readlinkat(from.Dir, from.Name, target)
	if err != nil {
		return err
	}
	if err := unix.Symlinkat(string(target[:n]), to.Dir, to.Name); err != nil {
		return err
	}
	_, err = disk.SetTime(to.Dir, to.Name, like.Mtim)
	return err
}

package worktree

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

	"agentswarm/worktree/git"
)

// cloners is how many goroutines clone the files of one workspace: more of
// them wait for each other in the file system. A copy keeps a processor busy.
func cloners(copies bool) int {
	if copies {
		return max(2, runtime.NumCPU())
	}
	return 4
}

// fillClone fills a workspace with clones of the files of its base, with an
// index that knows them, and with what comes along.
func (t *Trees) fillClone(ctx context.Context, w *Workspace, c *cloning) (err error) {
	if err := t.fills.enter(ctx); err != nil {
		return err
	}
	err = t.cloneBase(ctx, w, c)
	if err == nil {
		err = t.bring(ctx, w)
	}
	t.fills.leave(err == nil)
	if err != nil {
		return err
	}
	dotGit := filepath.Join(w.files(), ".git")
	if w.At != "" {
		return os.Mkdir(dotGit, 0o700) // its git dir is mounted there
	}
	return os.WriteFile(dotGit, []byte(leadTo(w.Admin)), 0o600)
}

func (t *Trees) cloneBase(ctx context.Context, w *Workspace, c *cloning) error {
	text, err := os.ReadFile(c.index)
	if err != nil {
		return err
	}
	entries, err := t.Repo.ParseIndex(text)
	if err != nil {
		return err
	}
	c.to = w.files()
	if c.stats, err = t.reuse(ctx, w, entries); err != nil {
		return err
	}
	if c.stats == nil {
		c.stats = map[string]git.IndexStat{}
		if err := os.Mkdir(c.to, 0o700); err != nil {
			return err
		}
	}
	if err := c.all(ctx, entries); err != nil {
		return err
	}
	if w.Settled, err = c.settled(ctx, w.Dir); err != nil {
		return err
	}
	text, err = t.Repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		s, ok := c.stats[e.Path]
		return s, ok
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.Index), 0o700); err != nil {
		return err
	}
	return writeFile(w.Index, text)
}

// cloning is the cloning of one checkout.
type cloning struct {
	from   layers
	index  string // of the checkout
	copies bool   // what cannot be cloned is copied
	to     string

	mu    sync.Mutex // guards what follows
	stats map[string]git.IndexStat
}

// all clones the files of an index, which is sorted, several at once.
func (c *cloning) all(ctx context.Context, entries []git.IndexEntry) error {
	entries = slices.DeleteFunc(entries, func(e git.IndexEntry) bool { return e.SkipWorktree })
	if err := c.folders(entries); err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e git.IndexEntry) bool { _, there := c.stats[e.Path]; return there })
	for rest := c.from; len(rest) > 0 && len(entries) > 0; rest = rest[1:] {
		var here, lower []git.IndexEntry
		for _, e := range entries {
			if len(rest) == 1 || lies(rest[0], e) {
				here = append(here, e)
			} else {
				lower = append(lower, e)
			}
		}
		group, ctx := errgroup.WithContext(ctx)
		n := cloners(c.copies)
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

// settled waits until the clock of the file system has moved on since the last
// file was made. It reports false where the clock is too slow to wait for.
func (c *cloning) settled(ctx context.Context, dir string) (bool, error) {
	var last git.IndexTime
	for _, s := range c.stats {
		if last.Before(s.CTime) {
			last = s.CTime
		}
	}
	now, err := tick(ctx, dir, last)
	return last.Before(now), err
}

// lies reports whether a layer holds a file of the index itself.
func lies(layer string, e git.IndexEntry) bool {
	at, err := os.Lstat(filepath.Join(layer, e.Path))
	return err == nil && !at.IsDir() && !isWhiteout(at)
}

// folders makes all folders, and those of submodules, with the modes they have.
func (c *cloning) folders(entries []git.IndexEntry) error {
	made := map[string]bool{"": true}
	var mkdir func(dir string) error
	mkdir = func(dir string) error {
		if made[dir] {
			return nil
		}
		if err := mkdir(parent(dir)); err != nil {
			return err
		}
		made[dir] = true
		layers := c.from.folders(dir)
		if len(layers) == 0 {
			return &os.PathError{Op: "clone", Path: dir, Err: fs.ErrNotExist}
		}
		at, err := os.Lstat(layers[0])
		if err != nil {
			return err
		}
		to := filepath.Join(c.to, dir)
		if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Chmod(to, at.Mode().Perm()|0o700)
	}
	for _, e := range entries {
		dir := parent(e.Path)
		if e.Mode == modeLink {
			dir = e.Path
		}
		if err := mkdir(dir); err != nil {
			return err
		}
	}
	return nil
}

// some clones a part of the files of a layer, one after the other.
func (c *cloning) some(ctx context.Context, layer string, entries []git.IndexEntry) (err error) {
	from, to := &folders{root: layer}, &folders{root: c.to}
	clone := cloneFunc(git.CloneAt)
	if c.copies {
		clone = new(git.Copier).At
	}
	stats := make(map[string]git.IndexStat, len(entries))
	defer func() {
		err = errors.Join(err, from.close(), to.close())
		c.mu.Lock()
		defer c.mu.Unlock()
		for path, s := range stats {
			c.stats[path] = s
		}
	}()
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.Mode == modeLink {
			continue
		}
		src, name, err := from.enter(e.Path)
		if err != nil {
			return &os.PathError{Op: "clone", Path: e.Path, Err: err}
		}
		dst, _, err := to.enter(e.Path)
		if err != nil {
			return &os.PathError{Op: "clone", Path: e.Path, Err: err}
		}
		if stats[e.Path], err = cloneOne(clone, src, dst, name, e.Mode == modeSym); err != nil {
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
	_, err = setTime(to.Dir, to.Name, like.Mtim)
	return err
}

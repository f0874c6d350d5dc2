package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// reuse starts the files of a workspace from an entry of the pool, if there is
// one of its base, or of one that differs in plain files only. It returns the
// stats of the files that are in place; nil says that there is no folder yet.
func (t *Trees) reuse(ctx context.Context, w *Workspace, entries []git.IndexEntry) (map[string]git.IndexStat, error) {
	if t.Pool == "" {
		return nil, nil
	}
	all, err := listPool(t.Pool)
	if err != nil {
		return nil, err
	}
	key := filepath.Base(filepath.Dir(w.Lower))
	all = slices.DeleteFunc(all, func(e poolEntry) bool { return e.Backend != w.kind() })
	// Those of the same base come first: of them nothing has to be copied.
	slices.SortStableFunc(all, func(a, b poolEntry) int { return btoi(a.Base != key) - btoi(b.Base != key) })
	rules := rulesOf(entries)
	for _, e := range all {
		if e.Base != key && (e.Rules != rules || configOf(e.Base) != configOf(key) || !t.plain(ctx, w)) {
			continue
		}
		stats, err := t.reuseEntry(ctx, w, e, entries)
		if stats != nil || err != nil {
			return stats, err
		}
	}
	return nil, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// configOf is the part of the name of a base that stands for the configuration.
func configOf(key string) string { return key[max(0, len(key)-8):] }

// plain reports whether no filter can make another file of the same object.
func (t *Trees) plain(ctx context.Context, w *Workspace) bool {
	q, err := t.Frozen.Quarantine(filepath.Join(w.Dir, "objects"))
	if err != nil {
		return false
	}
	f, err := t.readFilters(ctx, q)
	if err := errors.Join(err, q.Discard()); err != nil {
		return false
	}
	for driver := range f.drivers {
		if driver != "lfs" {
			return false
		}
	}
	return true
}

// reuseEntry takes an entry. It returns nil where another process was faster,
// or the entry is not as its record says.
func (t *Trees) reuseEntry(ctx context.Context, w *Workspace, e poolEntry, entries []git.IndexEntry) (map[string]git.IndexStat, error) {
	dir := filepath.Join(w.Dir, "pool")
	if took, err := e.takeFrom(dir); !took {
		return nil, err
	}
	if err := t.step("taken"); err != nil {
		return nil, err
	}
	stats, err := checkEntry(ctx, dir)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, RemoveAll(dir)
	}
	tree := filepath.Join(dir, treeName)
	wanted := make(map[string]*git.IndexEntry, len(entries))
	for i := range entries {
		wanted[entries[i].Path] = &entries[i]
	}
	in := make(map[string]git.IndexStat, len(stats))
	var left []string
	for path, s := range stats {
		if e := wanted[path]; e != nil && !e.SkipWorktree && e.ID == s.ID && e.Mode == s.Mode {
			in[path] = s.stat
		} else {
			left = append(left, path)
		}
	}
	if err := prune(tree, left); err != nil {
		return nil, err
	}
	if err := os.Rename(tree, w.files()); err != nil {
		return nil, err
	}
	if err := retime(w.files(), in, wanted); err != nil {
		return nil, err
	}
	return in, errors.Join(t.step("reused"), RemoveAll(dir))
}

// prune removes files, and the folders that are empty then.
func prune(tree string, paths []string) error {
	for _, path := range paths {
		if err := os.Remove(filepath.Join(tree, path)); err != nil {
			return err
		}
		for dir := parent(path); dir != ""; dir = parent(dir) {
			if err := os.Remove(filepath.Join(tree, dir)); err != nil {
				if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
					break
				}
				return err
			}
		}
	}
	return nil
}

// retime gives files of an entry the times that they have in the base: an entry of
// another base may have others for the same content.
func retime(tree string, in map[string]git.IndexStat, wanted map[string]*git.IndexEntry) (err error) {
	f := &folders{root: tree}
	defer func() { err = errors.Join(err, f.close()) }()
	var paths []string
	for path := range in {
		if in[path].MTime != wanted[path].MTime {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		when := wanted[path].MTime
		dir, name, err := f.enter(path)
		if err == nil {
			var s unix.Stat_t
			s, err = setTime(dir, name, unix.NsecToTimespec(time.Unix(int64(when.Sec), int64(when.Nano)).UnixNano()))
			in[path] = git.StatOf(&s)
		}
		if err != nil {
			return &os.PathError{Op: "set the time of", Path: path, Err: err}
		}
	}
	return nil
}

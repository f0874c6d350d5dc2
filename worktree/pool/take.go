package pool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// TakeRequest asks for files to start a workspace from.
type TakeRequest struct {
	Workspace *workspace.Workspace // required
	Entries   []git.IndexEntry     // required; the files that it is to hold
	// Plain reports whether no filter can make another file of the same object.
	// Required.
	Plain func() bool
}

// Take starts the files of a workspace from an entry of the pool, if it has an
// entry with the same base, or with a base that differs in plain files only. It
// returns the stats of the files that are in place; nil says that there is no
// folder yet. It returns an error if an entry cannot be read or moved, or the
// cause of ctx.
func (p Pool) Take(ctx context.Context, r TakeRequest) (map[string]git.IndexStat, error) {
	if p.Dir == "" {
		return nil, nil
	}
	for {
		stats, lost, err := p.takeOne(ctx, r)
		if stats != nil || err != nil || !lost {
			return stats, err
		}
		// While another process took that entry, an entry may have been added.
	}
}

// takeOne tries the entries of the pool as it is now. It reports lost if
// another process took an entry first.
func (p Pool) takeOne(ctx context.Context, r TakeRequest) (stats map[string]git.IndexStat, lost bool, err error) {
	all, lost, err := listPool(p.Dir)
	if err != nil {
		return nil, false, err
	}
	if err := p.Step.At("listed"); err != nil {
		return nil, false, err
	}
	w := r.Workspace
	key := filepath.Base(filepath.Dir(w.Lower))
	all = slices.DeleteFunc(all, func(e poolEntry) bool { return e.Backend != w.Kind() })
	// Those of the same base come first: of them nothing has to be copied.
	slices.SortStableFunc(all, func(a, b poolEntry) int { return btoi(a.Base != key) - btoi(b.Base != key) })
	rules := rulesOf(r.Entries)
	for _, e := range all {
		if e.Base != key && (e.Rules != rules || configOf(e.Base) != configOf(key) || !r.Plain()) {
			continue
		}
		stats, took, err := p.takeEntry(ctx, w, e, r.Entries)
		if stats != nil || err != nil {
			return stats, false, err
		}
		lost = lost || !took
	}
	return nil, lost, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// configOf is the part of the name of a base that stands for the configuration.
func configOf(key string) string { return key[max(0, len(key)-8):] }

// takeEntry takes an entry. It reports false where another process was faster, and
// returns nil where the entry is not as its record says.
func (p Pool) takeEntry(ctx context.Context, w *workspace.Workspace, e poolEntry, entries []git.IndexEntry) (_ map[string]git.IndexStat, took bool, err error) {
	dir := filepath.Join(w.Dir, "pool")
	if took, _, err = e.takeFrom(dir); !took {
		return nil, false, err
	}
	stats, err := p.useEntry(ctx, w, dir, entries)
	return stats, true, err
}

// useEntry makes the files of an entry those of a workspace.
func (p Pool) useEntry(ctx context.Context, w *workspace.Workspace, dir string, entries []git.IndexEntry) (map[string]git.IndexStat, error) {
	if err := p.Step.At("taken"); err != nil {
		return nil, err
	}
	stats, err := checkEntry(ctx, dir)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, disk.RemoveAll(dir)
	}
	tree := filepath.Join(dir, workspace.TreeName)
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
	if err := os.Rename(tree, w.Files()); err != nil {
		return nil, err
	}
	if err := retime(w.Files(), in, wanted); err != nil {
		return nil, err
	}
	return in, errors.Join(p.Step.At("reused"), disk.RemoveAll(dir))
}

// prune removes files, and the folders that are empty then.
func prune(tree string, paths []string) error {
	for _, path := range paths {
		if err := os.Remove(filepath.Join(tree, path)); err != nil {
			return err
		}
		for dir := disk.Parent(path); dir != ""; dir = disk.Parent(dir) {
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
	f := &disk.Folders{Root: tree}
	defer func() { err = errors.Join(err, f.Close()) }()
	var paths []string
	for path := range in {
		if in[path].MTime != wanted[path].MTime {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		when := wanted[path].MTime
		dir, name, err := f.Enter(path)
		if err == nil {
			var s unix.Stat_t
			s, err = disk.SetTime(dir, name, unix.NsecToTimespec(time.Unix(int64(when.Sec), int64(when.Nano)).UnixNano()))
			in[path] = git.StatOf(&s)
		}
		if err != nil {
			return &os.PathError{Op: "set the time of", Path: path, Err: err}
		}
	}
	return nil
}

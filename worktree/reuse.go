package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// Recycle is [Trees.Release] for a workspace in which no process is left that
// could write to it. If the capture is complete, the files that are as the
// lease made them go into the pool, and the next Lease starts from them.
//
// Such a file has the size, the inode, the modification time and the change
// time of the lease, and no second name. All folders and all other files stay
// behind: nothing that an agent made, and no mode, time, attribute or git state
// that it set, is in the pool.
//
// What is not in the capture, such as new ignored files, goes into the trash
// as with Release, without the files that are in the base anyway.
func (t *Trees) Recycle(ctx context.Context, w Workspace, c *Capture) (Released, error) {
	if err := t.own(w); err != nil {
		return Released{}, fmt.Errorf("release %s: %w", w.Name, err)
	}
	defer t.fills.finish()()
	out, err := t.release(ctx, w, c, t.recycle)
	if err != nil {
		return out, fmt.Errorf("release %s: %w", w.Name, err)
	}
	return out, nil
}

// reusable reports whether the unchanged files of a workspace can be reused.
func (t *Trees) reusable(w Workspace, c *Capture) bool {
	return t.Pool != "" && w.Settled && w.Lower != "" && (w.kind() == Copied || w.kind() == Reflink) && c != nil && c.Complete
}

// recycle moves the unchanged files of a workspace in the trash to the pool.
func (t *Trees) recycle(ctx context.Context, w Workspace, c *Capture, entry string) (err error) {
	if !t.reusable(w, c) {
		return nil
	}
	base, err := t.parseBase(w.Index)
	if err != nil {
		return nil //nolint:nilerr // without our copy of the index nothing is known of the files
	}
	// Below the entry a crash leaves what is removed with the entry.
	dir := filepath.Join(entry, "pool")
	if err := RemoveAll(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil && !died(err) {
			err = errors.Join(err, RemoveAll(dir))
		}
	}()
	s := &sorting{base: base, to: filepath.Join(dir, treeName), made: map[string]bool{"": true}, kept: placed{}}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(s.to, 0o700)); err != nil {
		return err
	}
	if err := s.sort(ctx, filepath.Join(entry, "tree", treeName)); err != nil {
		return err
	}
	if err := t.step("sorted"); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, poolFilesName), s.kept.text()); err != nil {
		return err
	}
	kept, err := t.put(ctx, dir, poolRecord{
		Backend: w.kind(), Base: filepath.Base(filepath.Dir(w.Lower)), Rules: rulesOf(base.entries), Size: s.size, Time: time.Now(),
	})
	if err == nil && !kept {
		err = RemoveAll(dir)
	}
	return err
}

// rulesOf is a digest of the files by which git decides how to check out
// others. Two commits for which it is the same give the same file for the same
// object, unless filters differ.
func rulesOf(entries []git.IndexEntry) string {
	sum := sha256.New()
	for _, e := range entries {
		if filepath.Base(e.Path) == ".gitattributes" || ruled(e.Path) || e.Mode == modeLink || e.SkipWorktree {
			fmt.Fprintf(sum, "%s\x00%o %s\x00", e.Path, e.Mode, e.ID)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// sorting moves the unchanged files of a tree to another, whose folders it
// makes. It follows no symlink.
type sorting struct {
	base *baseIndex // as the lease left the files
	to   string
	made map[string]bool // folders of to
	kept placed
	size int64 // of what was kept, on disk, in bytes
}

func (s *sorting) sort(ctx context.Context, from string) error {
	fd, err := openFolder(unix.AT_FDCWD, from)
	if err != nil {
		return &os.PathError{Op: "open", Path: from, Err: err}
	}
	root := os.NewFile(uintptr(fd), from)
	return errors.Join(s.folder(ctx, root, ""), root.Close())
}

func (s *sorting) folder(ctx context.Context, dir *os.File, rel string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	var self unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &self); err != nil {
		return err
	}
	if self.Mode&0o700 != 0o700 {
		return nil // the agent closed it, and its files are made anew
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := name
		if rel != "" {
			path = rel + "/" + name
		}
		var at unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return &os.PathError{Op: "stat", Path: path, Err: err}
		}
		if at.Mode&unix.S_IFMT == unix.S_IFDIR {
			err = s.below(ctx, dir, path)
		} else if e := s.base.find(path); e != nil && asLeft(e, &at) {
			err = s.keep(dir, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below sorts a folder that the base has, too.
func (s *sorting) below(ctx context.Context, parent *os.File, path string) error {
	if !s.base.holds(path) {
		return nil
	}
	fd, err := openFolder(int(parent.Fd()), filepath.Base(path))
	if err != nil {
		return nil //nolint:nilerr // the agent closed it, and its files are made anew
	}
	dir := os.NewFile(uintptr(fd), path)
	return errors.Join(s.folder(ctx, dir, path), dir.Close())
}

// asLeft reports whether a file is certainly as the lease left it.
func asLeft(e *git.IndexEntry, at *unix.Stat_t) bool {
	s := git.StatOf(at)
	return at.Nlink == 1 && modeOf(at) == e.Mode && s.Size == e.Size && s.Inode == e.Inode && s.MTime == e.MTime && s.CTime == e.CTime
}

// modeOf is the mode that git has for a file; 0 for what git does not keep.
func modeOf(at *unix.Stat_t) uint32 {
	switch at.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return modeSym
	case unix.S_IFREG:
		if at.Mode&0o100 != 0 {
			return modeExec
		}
		return modeFile
	default:
		return 0
	}
}

// keep moves a file.
func (s *sorting) keep(from *os.File, e *git.IndexEntry) error {
	if err := s.mkdir(parent(e.Path)); err != nil {
		return err
	}
	to := filepath.Join(s.to, e.Path)
	if err := unix.Renameat(int(from.Fd()), filepath.Base(e.Path), unix.AT_FDCWD, to); err != nil {
		return &os.PathError{Op: "rename", Path: e.Path, Err: err}
	}
	// A rename changes the time of the status on most file systems.
	at, err := os.Lstat(to)
	if err != nil {
		return err
	}
	s.kept.add(e.Path, at, e.ID)
	s.size += onDisk(at.Size())
	return nil
}

func (s *sorting) mkdir(dir string) error {
	if s.made[dir] {
		return nil
	}
	if err := s.mkdir(parent(dir)); err != nil {
		return err
	}
	s.made[dir] = true
	return os.Mkdir(filepath.Join(s.to, dir), 0o700)
}

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

// checked is a file of an entry that is as its record says.
type checked struct {
	git.IndexEntry
	stat git.IndexStat
}

// checkEntry compares the files of an entry with its record. An entry with
// another file, or without one, is an error.
func checkEntry(ctx context.Context, dir string) (map[string]checked, error) {
	text, err := os.ReadFile(filepath.Join(dir, poolFilesName))
	if err != nil {
		return nil, err
	}
	kept, err := parsePlaced(text)
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for path := range kept {
		addParents(folders, path)
	}
	c := &checking{kept: kept, folders: folders, found: make(map[string]checked, len(kept))}
	fd, err := openFolder(unix.AT_FDCWD, filepath.Join(dir, treeName))
	if err != nil {
		return nil, err
	}
	root := os.NewFile(uintptr(fd), treeName)
	if err := errors.Join(c.folder(ctx, root, ""), root.Close()); err != nil {
		return nil, err
	}
	if len(c.found) != len(kept) {
		return nil, errors.New("files are missing")
	}
	return c.found, nil
}

type checking struct {
	kept    placed
	folders map[string]bool
	found   map[string]checked
}

func (c *checking) folder(ctx context.Context, dir *os.File, rel string) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := name
		if rel != "" {
			path = rel + "/" + name
		}
		if c.folders[path] {
			fd, err := openFolder(int(dir.Fd()), name)
			if err != nil {
				return err
			}
			below := os.NewFile(uintptr(fd), path)
			if err := errors.Join(c.folder(ctx, below, path), below.Close()); err != nil {
				return err
			}
			continue
		}
		e, ok := c.kept[path]
		var at unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		if !ok || !asLeft(&e, &at) {
			return fmt.Errorf("%s is not as it was", path)
		}
		c.found[path] = checked{IndexEntry: e, stat: git.StatOf(&at)}
	}
	return nil
}

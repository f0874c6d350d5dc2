package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// Recycle is [Trees.Release] for a workspace in which no process is left that
// could write to it. If the capture is complete, the files that are as the
// lease made them go into the pool, and the next Lease starts from them.
//
// Such a file has the size, the inode, the modification time and the change
// time of the lease, no second name, and is in no process open to be written
// to: an agent may have passed a descriptor on. All folders and all other files
// stay behind: no file that an agent made, and no mode, time, attribute or git
// state that it set, is in the pool.
//
// Files that are not in the capture, such as new ignored files, go into the
// trash as with Release, without the files that are in the base anyway.
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
	// A crash leaves the folder below the entry, and it is removed with that.
	dir := filepath.Join(entry, "pool")
	if err := RemoveAll(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil && !died(err) {
			err = errors.Join(err, RemoveAll(dir))
		}
	}()
	s := &sorting{base: base, to: &folders{root: filepath.Join(dir, treeName)}, made: map[string]bool{"": true}, kept: placed{}}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(s.to.root, 0o700)); err != nil {
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
	to   *folders
	made map[string]bool // folders of to
	kept placed
	size int64 // of the kept files, on disk, in bytes
}

func (s *sorting) sort(ctx context.Context, from string) error {
	fd, err := openFolder(unix.AT_FDCWD, from)
	if err != nil {
		return &os.PathError{Op: "open", Path: from, Err: err}
	}
	root := os.NewFile(uintptr(fd), from)
	return errors.Join(s.folder(ctx, root, ""), root.Close(), s.to.close())
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
		} else if e := s.base.find(path); e != nil && asLeft(e, &at) && unwritten(dir, name, e) {
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

// modeOf is the mode that git has for a file; 0 for a kind that git does not keep.
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

// keep moves a file. Both folders are open, so that no path is resolved for it.
func (s *sorting) keep(from *os.File, e *git.IndexEntry) error {
	if err := s.mkdir(parent(e.Path)); err != nil {
		return err
	}
	to, name, err := s.to.enter(e.Path)
	if err != nil {
		return &os.PathError{Op: "open the folder of", Path: e.Path, Err: err}
	}
	if err := unix.Renameat(int(from.Fd()), name, to, name); err != nil {
		return &os.PathError{Op: "rename", Path: e.Path, Err: err}
	}
	// A rename changes the time of the status on most file systems.
	var at unix.Stat_t
	if err := unix.Fstatat(to, name, &at, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "stat", Path: e.Path, Err: err}
	}
	stat := git.StatOf(&at)
	s.kept[e.Path] = git.IndexEntry{
		Path: e.Path, Mode: modeOf(&at), ID: e.ID,
		CTime: stat.CTime, MTime: stat.MTime, Inode: stat.Inode, Size: stat.Size,
	}
	s.size += onDisk(at.Size)
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
	return os.Mkdir(filepath.Join(s.to.root, dir), 0o700)
}

package pool

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

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/step"
	"agentswarm/worktree/workspace"
)

// KeepRequest names the tree of a workspace that ended.
type KeepRequest struct {
	Workspace workspace.Workspace // required; its files are clones or copies of Lower
	Base      *baseline.Index     // required; the files as the lease made them
	Tree      string              // required; the folder with the files
	Scratch   string              // required; a folder that is removed or becomes an entry
}

// Keep moves the unchanged files of a tree to the pool.
func (p Pool) Keep(ctx context.Context, r KeepRequest) (err error) {
	// A crash leaves the folder below the entry of the trash, and it is removed with that.
	dir := r.Scratch
	if err := disk.RemoveAll(dir); err != nil {
		return err
	}
	defer func() {
		if err != nil && !step.Died(err) {
			err = errors.Join(err, disk.RemoveAll(dir))
		}
	}()
	s := &sorting{base: r.Base, to: &disk.Folders{Root: filepath.Join(dir, workspace.TreeName)}, made: map[string]bool{"": true}, kept: baseline.Placed{}}
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(s.to.Root, 0o700)); err != nil {
		return err
	}
	if err := s.sort(ctx, r.Tree); err != nil {
		return err
	}
	if err := p.Step.At("sorted"); err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, poolFilesName), s.kept.Text()); err != nil {
		return err
	}
	kept, err := p.put(ctx, dir, poolRecord{
		Backend: r.Workspace.Kind(), Base: filepath.Base(filepath.Dir(r.Workspace.Lower)), Rules: rulesOf(r.Base.Entries),
		Size: s.size, Time: time.Now(),
	})
	if err == nil && !kept {
		err = disk.RemoveAll(dir)
	}
	return err
}

// rulesOf is a digest of the files by which git decides how to check out
// others. Two commits for which it is the same give the same file for the same
// object, unless filters differ.
func rulesOf(entries []git.IndexEntry) string {
	sum := sha256.New()
	for _, e := range entries {
		if filepath.Base(e.Path) == ".gitattributes" || baseline.Ruled(e.Path) || e.Mode == baseline.ModeLink || e.SkipWorktree {
			fmt.Fprintf(sum, "%s\x00%o %s\x00", e.Path, e.Mode, e.ID)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// sorting moves the unchanged files of a tree to another, whose folders it
// makes. It follows no symlink.
type sorting struct {
	base *baseline.Index // as the lease left the files
	to   *disk.Folders
	made map[string]bool // folders of to
	kept baseline.Placed
	size int64 // of the kept files, on disk, in bytes
}

func (s *sorting) sort(ctx context.Context, from string) error {
	fd, err := disk.OpenFolder(unix.AT_FDCWD, from)
	if err != nil {
		return &os.PathError{Op: "open", Path: from, Err: err}
	}
	root := os.NewFile(uintptr(fd), from)
	return errors.Join(s.folder(ctx, root, ""), root.Close(), s.to.Close())
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
		} else if e := s.base.Find(path); e != nil && asLeft(e, &at) && unwritten(dir, name, e) {
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
	if !s.base.Holds(path) {
		return nil
	}
	fd, err := disk.OpenFolder(int(parent.Fd()), filepath.Base(path))
	if err != nil {
		return nil // the agent closed it, and its files are made anew
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
		return baseline.ModeSym
	case unix.S_IFREG:
		if at.Mode&0o100 != 0 {
			return baseline.ModeExec
		}
		return baseline.ModeFile
	default:
		return 0
	}
}

// keep moves a file. Both folders are open, so that no path is resolved for it.
func (s *sorting) keep(from *os.File, e *git.IndexEntry) error {
	if err := s.mkdir(disk.Parent(e.Path)); err != nil {
		return err
	}
	to, name, err := s.to.Enter(e.Path)
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
	s.size += disk.Blocks(at.Size)
	return nil
}

func (s *sorting) mkdir(dir string) error {
	if s.made[dir] {
		return nil
	}
	if err := s.mkdir(disk.Parent(dir)); err != nil {
		return err
	}
	s.made[dir] = true
	return os.Mkdir(filepath.Join(s.to.Root, dir), 0o700)
}

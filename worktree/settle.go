package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// settle gives files of a base the times that when names, and writes an index that
// knows them. It leaves out files for which when reports false. It returns about
// how many bytes the base takes on disk.
func (t *Trees) settle(b *base, when func(e *git.IndexEntry) (time.Time, bool)) (size int64, err error) {
	text, err := os.ReadFile(b.index())
	if err != nil {
		return 0, err
	}
	f := &folders{root: b.tree()}
	defer func() { err = errors.Join(err, f.close()) }()
	var failed error
	text, err = t.Repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		changed, own := when(e)
		if !own {
			return git.IndexStat{}, false
		}
		at, name, err := f.enter(e.Path)
		var s unix.Stat_t
		if err == nil {
			s, err = setTime(at, name, unix.NsecToTimespec(changed.UnixNano()))
		}
		if err != nil {
			failed = errors.Join(failed, &os.PathError{Op: "settle", Path: e.Path, Err: err})
			return git.IndexStat{}, false
		}
		size += onDisk(s.Size)
		return git.StatOf(&s), true
	})
	if err = errors.Join(err, failed); err != nil {
		return 0, err
	}
	return size + int64(len(text)), writeFile(b.index(), text)
}

// setTime sets the modification time of a file in an open folder, and returns how
// the file looks then. It follows no symlink.
func setTime(dir int, name string, when unix.Timespec) (s unix.Stat_t, err error) {
	if err = unix.UtimesNanoAt(dir, name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		err = unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	}
	return s, err
}

// folders opens the folders of a tree one after the other, as files in them
// come up, and follows no symlink.
type folders struct {
	root string
	path string // of the one that is open; "" for the root
	fds  []int  // of the root and each folder of path; empty: nothing is open
}

// enter is the open folder that a path lies in, and the last part of the path.
func (f *folders) enter(path string) (fd int, name string, err error) {
	if len(f.fds) == 0 {
		root, err := openFolder(unix.AT_FDCWD, f.root)
		if err != nil {
			return -1, "", err
		}
		f.fds = append(f.fds, root)
	}
	dir := parent(path)
	if dir != f.path {
		if err := f.change(dir); err != nil {
			return -1, "", err
		}
	}
	return f.fds[len(f.fds)-1], filepath.Base(path), nil
}

// change goes up as far as it must and down again.
func (f *folders) change(dir string) error {
	for f.path != "" && f.path != dir && !strings.HasPrefix(dir, f.path+"/") {
		last := len(f.fds) - 1
		if err := unix.Close(f.fds[last]); err != nil {
			return err
		}
		f.fds, f.path = f.fds[:last], parent(f.path)
	}
	for f.path != dir {
		name, _, _ := strings.Cut(strings.TrimPrefix(dir[len(f.path):], "/"), "/")
		fd, err := openFolder(f.fds[len(f.fds)-1], name)
		if err != nil {
			return err
		}
		f.fds = append(f.fds, fd)
		f.path = strings.TrimPrefix(f.path+"/"+name, "/")
	}
	return nil
}

func (f *folders) close() (err error) {
	for _, fd := range f.fds {
		err = errors.Join(err, unix.Close(fd))
	}
	f.fds, f.path = nil, ""
	return err
}

func openFolder(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

package disk

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// SetTime sets the modification time of a file in an open folder, and returns how
// the file looks then. It follows no symlink.
func SetTime(dir int, name string, when unix.Timespec) (s unix.Stat_t, err error) {
	if err = unix.UtimesNanoAt(dir, name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		err = unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	}
	return s, err
}

// Folders opens the folders of a tree in sequence, as their files are used, and
// follows no symlink.
type Folders struct {
	Root string
	path string // of the open folder; "" for the root
	fds  []int  // of the root and each folder of path; empty: none is open
}

// Enter is the open folder that a path lies in, and the last part of the path.
func (f *Folders) Enter(path string) (fd int, name string, err error) {
	if len(f.fds) == 0 {
		root, err := OpenFolder(unix.AT_FDCWD, f.Root)
		if err != nil {
			return -1, "", err
		}
		f.fds = append(f.fds, root)
	}
	dir := Parent(path)
	if dir != f.path {
		if err := f.change(dir); err != nil {
			return -1, "", err
		}
	}
	return f.fds[len(f.fds)-1], filepath.Base(path), nil
}

// change goes up as far as it must and down again.
func (f *Folders) change(dir string) error {
	for f.path != "" && f.path != dir && !strings.HasPrefix(dir, f.path+"/") {
		last := len(f.fds) - 1
		if err := unix.Close(f.fds[last]); err != nil {
			return err
		}
		f.fds, f.path = f.fds[:last], Parent(f.path)
	}
	for f.path != dir {
		name, _, _ := strings.Cut(strings.TrimPrefix(dir[len(f.path):], "/"), "/")
		fd, err := OpenFolder(f.fds[len(f.fds)-1], name)
		if err != nil {
			return err
		}
		f.fds = append(f.fds, fd)
		f.path = strings.TrimPrefix(f.path+"/"+name, "/")
	}
	return nil
}

// Close closes all open folders. It returns the errors of the system.
func (f *Folders) Close() (err error) {
	for _, fd := range f.fds {
		err = errors.Join(err, unix.Close(fd))
	}
	f.fds, f.path = nil, ""
	return err
}

// OpenFolder opens a folder of an open folder, or of [unix.AT_FDCWD]. A symlink is
// an error.
func OpenFolder(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

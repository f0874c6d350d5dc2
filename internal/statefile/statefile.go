// Package statefile opens the files of a state folder. An agent without a
// sandbox may have put links, pipes or files of others in their places, so a
// file is opened only if it is like those that swarm makes.
package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ForeignError reports a path below a state folder that swarm did not make like
// this.
type ForeignError struct {
	Path   string // the file, the folder above it, or the state folder
	Reason string // such as "it is a symbolic link"
	Advice string // the remedy for a person; empty: the advice for a file
}

func (e *ForeignError) Error() string {
	advice := e.Advice
	if advice == "" {
		advice = "swarm uses only its own files here: move it away, or put a copy of its own in its place"
	}
	return fmt.Sprintf("%s: %s; %s", e.Path, e.Reason, advice)
}

// Open opens path, a regular file below the state folder root. Flags are those
// of [os.OpenFile]; a new file has the mode 0600, and no folder is made.
//
// The root must be a folder of this user that nobody else can write to. No
// symbolic link below the root is followed, and the file must be regular, belong
// to this user and have one name. Otherwise the error is a [*ForeignError], and
// the file was not changed. The call never waits for the other end of a pipe.
func Open(root, path string, flags int) (*os.File, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is not below %s", root)}
	}
	dir, err := openFolder(root, rel)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	// The file is checked before it is truncated.
	fd, err := openAt(dir, filepath.Base(rel), flags&^os.O_TRUNC|unix.O_NONBLOCK, unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, openError(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if err := check(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if flags&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

// Read reads a whole file as [Open] opens it.
func Read(root, path string) ([]byte, error) {
	f, err := Open(root, path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// openFolder opens the folder that holds rel, a step for each folder: openat with
// O_NOFOLLOW exists on each system, unlike openat2 with RESOLVE_NO_SYMLINKS.
func openFolder(root, rel string) (fd int, err error) {
	// Links on the way to the root are the user's own.
	fd, err = openAt(unix.AT_FDCWD, root, unix.O_RDONLY|unix.O_DIRECTORY, 0, 0)
	if err != nil {
		return -1, openError(root, err)
	}
	if err := trusted(fd, root); err != nil {
		unix.Close(fd)
		return -1, err
	}
	at := root
	for name := range strings.SplitSeq(filepath.Dir(rel), "/") {
		if name == "." {
			break
		}
		at = filepath.Join(at, name)
		next, err := openAt(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, unix.O_NOFOLLOW, 0)
		unix.Close(fd)
		if err != nil {
			return -1, openError(at, err)
		}
		fd = next
	}
	return fd, nil
}

// openAt is openat(2) that no signal interrupts. Follow is 0 or O_NOFOLLOW.
func openAt(dir int, name string, flags, follow int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|follow|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// openError explains why a path was not opened. A link in the place of a file
// gives ELOOP, and a link in the place of a folder ENOTDIR. A pipe without a
// reader or a socket gives ENXIO.
func openError(path string, err error) error {
	if at, lerr := os.Lstat(path); lerr == nil {
		switch errno, _ := errors.AsType[syscall.Errno](err); errno {
		case unix.ELOOP, unix.ENOTDIR, unix.ENXIO, unix.EISDIR:
			return &ForeignError{Path: path, Reason: "it is " + KindOf(at.Mode())}
		}
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// trusted refuses a state folder in which others could replace files.
func trusted(fd int, root string) error {
	var at unix.Stat_t
	if err := unix.Fstat(fd, &at); err != nil {
		return &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	switch {
	case int(at.Uid) != os.Geteuid():
		return &ForeignError{
			Path: root, Reason: fmt.Sprintf("it belongs to the user %d", at.Uid),
			Advice: "set SWARM_STATE_DIR to a folder of your own",
		}
	case at.Mode&0o022 != 0:
		return &ForeignError{
			Path: root, Reason: fmt.Sprintf("other users can write to it (mode %04o)", at.Mode&0o7777),
			Advice: "take that away with chmod go-w",
		}
	}
	return nil
}

func check(f *os.File) error {
	var at unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &at); err != nil {
		return &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	reason := ""
	switch {
	case !info.Mode().IsRegular():
		reason = "it is " + KindOf(info.Mode())
	case int(at.Uid) != os.Geteuid():
		reason = fmt.Sprintf("it belongs to the user %d", at.Uid)
	case at.Nlink > 1:
		reason = fmt.Sprintf("it has %d names (hard links)", at.Nlink)
	default:
		return nil
	}
	return &ForeignError{Path: f.Name(), Reason: reason}
}

// KindOf is a mode as the object of a sentence, such as "a pipe".
func KindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a device"
	}
}

package checkout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// SpaceError says that a file system has too little room for the new files. It
// is found before anything changes.
type SpaceError struct {
	Dir        string // a folder on the file system
	Need, Have int64  // bytes, or inodes
	Inodes     bool
}

func (e *SpaceError) Error() string {
	if e.Inodes {
		return fmt.Sprintf("no inodes left: the file system of %s has %d free, and the new files need %d", e.Dir, e.Have, e.Need)
	}
	return fmt.Sprintf("no space left: the file system of %s has %d bytes free, and the new files need %d", e.Dir, e.Have, e.Need)
}

// Unwrap makes the error match [syscall.ENOSPC].
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// Hint tells the user how to go on.
func (e *SpaceError) Hint() string {
	if e.Inodes {
		return "nothing has changed; delete files on that file system and try again"
	}
	return "nothing has changed; free space on that file system and try again"
}

// WriteError says that a path of a checkout could not be changed.
type WriteError struct {
	Path string // absolute; empty where it is not known
	Dir  string // the checkout
	Err  error  // required
}

func (e *WriteError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("write the files of %s: %v", e.Dir, e.Err)
	}
	return fmt.Sprintf("write %q: %v", e.Path, e.Err)
}

func (e *WriteError) Unwrap() error { return e.Err }

// Hint tells the user how to go on.
func (e *WriteError) Hint() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "free space on that file system and try again"
	case errors.Is(e.Err, syscall.EROFS):
		return "the file system is read-only; mount it writable and try again"
	case errors.Is(e.Err, syscall.EACCES), errors.Is(e.Err, syscall.EPERM):
		return "make the file and its folder writable for you and try again"
	default:
		return ""
	}
}

// MovedError says that a branch is not where it was expected.
type MovedError struct {
	Ref        string
	Want, Have git.Hash // empty: no such branch
}

func (e *MovedError) Error() string {
	at := func(h git.Hash) string {
		if h == "" {
			return "absent"
		}
		return "at " + h.Short()
	}
	return fmt.Sprintf("%s moved underneath: it was to be %s and is %s", e.Ref, at(e.Want), at(e.Have))
}

// LockedError says that another git command has the index of a checkout.
type LockedError struct{ Dir, Lock string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("another git command is running in %s: %s exists", e.Dir, e.Lock)
}

// Hint tells the user how to go on.
func (e *LockedError) Hint() string {
	return "wait until it has ended; if none is running, remove that file"
}

// RecordError says that the record of a transaction cannot be read.
type RecordError struct {
	Dir string // the folder of the record
	Err error  // required
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("read %s: %v", filepath.Join(e.Dir, recordFile), e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// Hint tells the user how to go on.
func (e *RecordError) Hint() string {
	id := idOf(e.Dir)
	run, _, _ := strings.Cut(id, ".")
	return fmt.Sprintf("that file says which files of a checkout a merge, apply or undo of run %s was changing; "+
		"look at `git status` there and at old files in %s, then move %s away", run, stageName(id), e.Dir)
}

// writing gives an error of the operating system its path.
func writing(dir, path string, err error) error {
	var write *WriteError
	if err == nil || errors.As(err, &write) {
		return err
	}
	var at *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &WriteError{Path: path, Dir: dir, Err: err}
}

// isInvalid reports whether the file system lacks an operation.
func isInvalid(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS)
}

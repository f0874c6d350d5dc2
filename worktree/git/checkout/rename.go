package checkout

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// unlinkable reports whether a file system has no hard links, or not for this
// file.
func unlinkable(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK) || isInvalid(err)
}

// moveNew moves a file to a name that is free. It never replaces a file: the error
// is then [fs.ErrExist].
func moveNew(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
		return os.Remove(from)
	}
	err = os.Link(from, to)
	if unlinkable(err) {
		// Without hard links there is an instant between the look and the
		// rename.
		if _, err := os.Lstat(to); err == nil {
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
		}
		return os.Rename(from, to)
	}
	if err != nil {
		return err
	}
	return os.Remove(from)
}

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives each of two files the name of the other, at once. A file system
// that cannot gives [errors.ErrUnsupported].
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

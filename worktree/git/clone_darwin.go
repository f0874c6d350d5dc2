package git

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Reflink fails: a file that is there cannot become a clone.
func Reflink(_, _ *os.File) error { return errors.ErrUnsupported }

// Clone makes a regular file, with the mode and the times of another, that
// shares all its blocks (clonefile(2)). It fails where the file system cannot.
func Clone(from, to string) error {
	_, err := CloneAt(Place{unix.AT_FDCWD, from}, Place{unix.AT_FDCWD, to})
	return err
}

// Place is a path from an open folder.
type Place struct {
	Dir  int
	Name string
}

// CloneAt is Clone for paths from open folders. It returns the status of the
// new file. It follows no symlink.
func CloneAt(from, to Place) (made unix.Stat_t, err error) {
	if err := unix.Clonefileat(from.Dir, from.Name, to.Dir, to.Name, unix.CLONE_NOFOLLOW); err != nil {
		return made, &os.PathError{Op: "clone", Path: to.Name, Err: err}
	}
	if err := unix.Fstatat(to.Dir, to.Name, &made, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return made, &os.PathError{Op: "stat", Path: to.Name, Err: err}
	}
	return made, nil
}

// Copier copies regular files in sequence. The zero value is ready.
type Copier struct{}

// At is [CloneAt], which the file systems of this system can.
func (*Copier) At(from, to Place) (unix.Stat_t, error) { return CloneAt(from, to) }

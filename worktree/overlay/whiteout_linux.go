package overlay

import (
	"os"

	"golang.org/x/sys/unix"
)

// whiteout makes a file which says, in a layer, that there is nothing at its
// path. No right is needed for that.
func whiteout(path string) error {
	if err := unix.Mknod(path, unix.S_IFCHR, 0); err != nil {
		return &os.PathError{Op: "hide", Path: path, Err: err}
	}
	return nil
}

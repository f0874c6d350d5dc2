package bases

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// saveFileSystem saves all of the file system that a folder is on.
func saveFileSystem(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return errors.Join(&os.PathError{Op: "syncfs", Path: dir, Err: err}, f.Close())
	}
	return f.Close()
}

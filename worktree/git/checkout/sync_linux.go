package checkout

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncDisk syncs the file system that a folder is on. It reports false where
// files have to be synced separately.
func syncDisk(dir string) (bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	err = unix.Syncfs(int(f.Fd()))
	return err == nil, errors.Join(err, f.Close())
}

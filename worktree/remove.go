package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveAll is os.RemoveAll for trees in which folders are read-only, as
// module caches are. It follows no symlink.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := openFolders(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// openFolders makes every folder below dir, and dir itself, ours to change.
// One that cannot be is found out by the removal that follows.
func openFolders(dir string) error {
	at, err := os.Lstat(dir)
	if err != nil || !at.IsDir() {
		return err
	}
	if at.Mode().Perm()&0o700 != 0o700 {
		if err := os.Chmod(dir, at.Mode().Perm()|0o700); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			err = errors.Join(err, openFolders(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Package disk does file operations that package os lacks: removal of closed
// folders, replacement of whole files, walks by open folders, file locks, and the
// space that files take. It knows nothing of git or of workspaces.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// openFolders makes every folder below dir, and dir itself, writable for us. If
// it cannot change a folder the removal that follows fails.
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

// Missing reports whether nothing is at a path.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// MakeFolder makes a folder and those above it, and removes a file in the way. It
// returns the errors of the system.
func MakeFolder(root *os.Root, dir string) error {
	if dir == "" {
		return nil
	}
	if err := MakeFolder(root, Parent(dir)); err != nil {
		return err
	}
	at, err := root.Lstat(dir)
	if err == nil && at.IsDir() {
		return nil
	}
	if err == nil {
		err = root.Remove(dir)
	}
	if err != nil && !Missing(err) {
		return err
	}
	return root.Mkdir(dir, 0o777)
}

// AddParents adds all folders above a path.
func AddParents(folders map[string]bool, path string) {
	for dir := Parent(path); dir != "" && !folders[dir]; dir = Parent(dir) {
		folders[dir] = true
	}
}

// Parent is the folder of a path with slashes; empty for the top.
func Parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

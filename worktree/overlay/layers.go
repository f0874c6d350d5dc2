// Package overlay reads and writes the layers of an overlay as the kernel sees
// them: lookups, whiteouts, opaque folders, and the merge of layers into a folder.
// It mounts nothing.
package overlay

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
)

// Layers are the folders below the changes of an overlay, the topmost first. A
// lookup follows the kernel: each path by itself, with no symlink followed.
type Layers []string

// Folders are the layers of a folder that is seen at a path; none where there
// is none.
func (l Layers) Folders(path string) Layers {
	if path == "" {
		return l
	}
	var found Layers
	for _, dir := range l.Folders(disk.Parent(path)) {
		full := filepath.Join(dir, filepath.Base(path))
		at, err := os.Lstat(full)
		if disk.Missing(err) {
			continue
		}
		if err != nil || !at.IsDir() {
			break // it hides the layers below it
		}
		found = append(found, full)
		if Opaque(full) {
			break
		}
	}
	return found
}

// has reports whether there is anything at a path.
func (l Layers) has(path string) (bool, error) {
	for _, dir := range l.Folders(disk.Parent(path)) {
		at, err := os.Lstat(filepath.Join(dir, filepath.Base(path)))
		if disk.Missing(err) {
			continue
		}
		return err == nil && !IsWhiteout(at), err
	}
	return false, nil
}

// names are those that are seen in a folder.
func (l Layers) names(path string) (map[string]bool, error) {
	seen := map[string]bool{}
	for _, dir := range l.Folders(path) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if _, above := seen[e.Name()]; above {
				continue
			}
			at, err := e.Info()
			if err != nil {
				return nil, err
			}
			seen[e.Name()] = !IsWhiteout(at)
		}
	}
	for name, there := range seen {
		if !there {
			delete(seen, name)
		}
	}
	return seen, nil
}

// IsWhiteout reports whether a file says that there is nothing at its path: a
// character device with the number 0.
func IsWhiteout(at fs.FileInfo) bool {
	s, ok := at.Sys().(*syscall.Stat_t)
	return ok && at.Mode().Type() == fs.ModeDevice|fs.ModeCharDevice && s.Rdev == 0
}

// Opaque reports whether a folder hides those of its name in the layers below.
func Opaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

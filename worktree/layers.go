package worktree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// layers are the folders below the changes of an overlay, the topmost first,
// as the kernel sees them: one path at a time, with no symlink followed.
type layers []string

// below are the layers below the changes of a workspace.
func (w Workspace) below() layers {
	return slices.DeleteFunc(layers{w.Lower, w.Under, w.Along}, func(dir string) bool { return dir == "" })
}

// folders are the layers of a folder that is seen at a path; none where there
// is none.
func (l layers) folders(path string) layers {
	if path == "" {
		return l
	}
	var found layers
	for _, dir := range l.folders(parent(path)) {
		full := filepath.Join(dir, filepath.Base(path))
		at, err := os.Lstat(full)
		if missing(err) {
			continue
		}
		if err != nil || !at.IsDir() {
			break // it hides what lies below it
		}
		found = append(found, full)
		if opaque(full) {
			break
		}
	}
	return found
}

// has reports whether there is anything at a path.
func (l layers) has(path string) (bool, error) {
	for _, dir := range l.folders(parent(path)) {
		at, err := os.Lstat(filepath.Join(dir, filepath.Base(path)))
		if missing(err) {
			continue
		}
		return err == nil && !isWhiteout(at), err
	}
	return false, nil
}

// Find is where a file of the workspace lies on disk, by its path below the top.
// It is false where there is none, or where that cannot be told.
func (w Workspace) Find(path string) (file string, there bool) {
	all := layers{w.files()}
	if w.kind() == Overlay {
		all = append(all, w.Shell)
		all = append(all, w.below()...)
		all = slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
	}
	for _, dir := range all.folders(parent(path)) {
		file := filepath.Join(dir, filepath.Base(path))
		at, err := os.Lstat(file)
		if missing(err) {
			continue
		}
		return file, err == nil && !isWhiteout(at)
	}
	return "", false
}

// names are those that are seen in a folder.
func (l layers) names(path string) (map[string]bool, error) {
	seen := map[string]bool{}
	for _, dir := range l.folders(path) {
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
			seen[e.Name()] = !isWhiteout(at)
		}
	}
	for name, there := range seen {
		if !there {
			delete(seen, name)
		}
	}
	return seen, nil
}

// isWhiteout reports whether a file says that there is nothing at its path: a
// character device with the number 0.
func isWhiteout(at fs.FileInfo) bool {
	s, ok := at.Sys().(*syscall.Stat_t)
	return ok && at.Mode().Type() == fs.ModeDevice|fs.ModeCharDevice && s.Rdev == 0
}

// opaque reports whether a folder hides those of its name in the layers below.
func opaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

// hiding has things that layers hold be seen no more, by what is put into a
// folder above them.
type hiding struct {
	root  *os.Root // the folder
	dir   string   // its path
	below layers
}

// clearLayers hides what the commit has no more, and the folders that are empty
// then. What it has otherwise hides the old by being there.
func (r *restoring) clearLayers(context.Context) error {
	h := &hiding{root: r.root, dir: r.Workspace.files(), below: r.Workspace.below()}
	return h.changes(r.changes)
}

// changes hides what is gone by a list of changes, which may have been made in
// the folder already.
func (h *hiding) changes(changes []git.Change) error {
	files, dirs := map[string]bool{}, map[string]bool{} // that are there afterwards
	for _, c := range changes {
		switch c.NewMode {
		case absent:
		case linkMode:
			dirs[c.Path] = true
			addParents(dirs, c.Path)
		default:
			files[c.Path] = true
			addParents(dirs, c.Path)
		}
	}
	emptied := map[string]bool{}
	for _, c := range changes {
		if c.NewMode != absent || dirs[c.Path] || anyAbove(files, c.Path) {
			continue
		}
		// One outside of a sparse checkout is not there.
		if there, err := h.below.has(c.Path); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := h.hide(c.Path); err != nil {
			return err
		}
		addParents(emptied, c.Path)
	}
	return h.empty(emptied, dirs)
}

// anyAbove reports whether any folder above a path is in a set.
func anyAbove(set map[string]bool, path string) bool {
	for dir := parent(path); dir != ""; dir = parent(dir) {
		if set[dir] {
			return true
		}
	}
	return false
}

// empty hides the folders of which all is hidden, the innermost first.
func (h *hiding) empty(emptied, kept map[string]bool) error {
	all := slices.Sorted(maps.Keys(emptied))
	for _, dir := range slices.Backward(all) {
		if kept[dir] {
			continue
		}
		more, err := h.holdsMore(dir)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		if err := h.root.RemoveAll(dir); err != nil {
			return err
		}
		if err := h.hide(dir); err != nil {
			return err
		}
	}
	return nil
}

// holdsMore reports whether anything in a folder of the layers is not hidden.
func (h *hiding) holdsMore(dir string) (bool, error) {
	names, err := h.below.names(dir)
	if err != nil {
		return false, err
	}
	for name := range names {
		at, err := h.root.Lstat(dir + "/" + name)
		switch {
		case missing(err):
			return true, nil
		case err != nil:
			return false, err
		case !isWhiteout(at):
			return true, nil
		}
	}
	return false, nil
}

// hide has nothing be seen at a path.
func (h *hiding) hide(path string) error {
	if err := makeFolder(h.root, parent(path)); err != nil {
		return err
	}
	err := whiteout(filepath.Join(h.dir, path))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

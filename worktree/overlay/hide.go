package overlay

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// Hider hides files of layers by entries in a folder above them.
type Hider struct {
	Root  *os.Root // the folder
	Dir   string   // its path
	Below Layers
}

// Apply hides the paths that a list of changes removes. The folder may have
// some of the changes already.
func (h *Hider) Apply(changes []git.Change) error {
	files, dirs := map[string]bool{}, map[string]bool{} // that are there afterwards
	for _, c := range changes {
		switch c.NewMode {
		case baseline.Absent:
		case baseline.LinkMode:
			dirs[c.Path] = true
			disk.AddParents(dirs, c.Path)
		default:
			files[c.Path] = true
			disk.AddParents(dirs, c.Path)
		}
	}
	emptied := map[string]bool{}
	for _, c := range changes {
		if c.NewMode != baseline.Absent || dirs[c.Path] || anyAbove(files, c.Path) {
			continue
		}
		// A file outside of a sparse checkout does not exist.
		if there, err := h.Below.has(c.Path); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := h.hide(c.Path); err != nil {
			return err
		}
		disk.AddParents(emptied, c.Path)
	}
	return h.empty(emptied, dirs)
}

// anyAbove reports whether any folder above a path is in a set.
func anyAbove(set map[string]bool, path string) bool {
	for dir := disk.Parent(path); dir != ""; dir = disk.Parent(dir) {
		if set[dir] {
			return true
		}
	}
	return false
}

// empty hides the folders of which all is hidden, the innermost first.
func (h *Hider) empty(emptied, kept map[string]bool) error {
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
		if err := h.Root.RemoveAll(dir); err != nil {
			return err
		}
		if err := h.hide(dir); err != nil {
			return err
		}
	}
	return nil
}

// holdsMore reports whether anything in a folder of the layers is not hidden.
func (h *Hider) holdsMore(dir string) (bool, error) {
	names, err := h.Below.names(dir)
	if err != nil {
		return false, err
	}
	for name := range names {
		at, err := h.Root.Lstat(dir + "/" + name)
		switch {
		case disk.Missing(err):
			return true, nil
		case err != nil:
			return false, err
		case !IsWhiteout(at):
			return true, nil
		}
	}
	return false, nil
}

// hide has nothing be seen at a path.
func (h *Hider) hide(path string) error {
	if err := disk.MakeFolder(h.Root, disk.Parent(path)); err != nil {
		return err
	}
	err := whiteout(filepath.Join(h.Dir, path))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

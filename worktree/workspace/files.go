package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/overlay"
)

// PutAside writes a file to the top of an idle workspace, for its next agent,
// and returns its name. This is the requested name or, if the workspace has
// that, a name with a number. There always is a free name: the workspace's
// files must not be able to prevent the write. It returns an error if the write
// fails.
func (w Workspace) PutAside(name string, text []byte) (string, error) {
	root, err := os.OpenRoot(w.Files())
	if err != nil {
		return "", fmt.Errorf("put %s into a workspace: %w", name, err)
	}
	defer root.Close() // only read through
	for n := 1; ; n++ {
		at := numbered(name, n)
		if _, there := w.Find(at); there {
			continue
		}
		f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("put %s into a workspace: %w", name, err)
		}
		_, err = f.Write(text)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("put %s into a workspace: %w", name, err)
		}
		return at, nil
	}
}

// TakeAside removes the files that [Workspace.PutAside] wrote under a name. It
// keeps changed files, as they are an agent's work. It returns an error if it
// cannot remove a file.
func (w Workspace) TakeAside(name string, text []byte) error {
	root, err := os.OpenRoot(w.Files())
	if err != nil {
		return nil // there is no workspace that it could be in
	}
	defer root.Close() // only read through
	for _, at := range AsideFiles(root, name, text) {
		if err := root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("take %s out of a workspace: %w", at, err)
		}
	}
	return nil
}

// Aside is a file that [Workspace.PutAside] wrote.
type Aside struct {
	Name string
	Text []byte
}

// AsideFiles are the files that were put aside under a name and are as they were
// written.
func AsideFiles(root *os.Root, name string, text []byte) (all []string) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil // the capture reports unreadable files
	}
	for _, e := range entries {
		at := e.Name()
		if !isNumbered(name, at) {
			continue
		}
		info, err := root.Lstat(at)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
			continue
		}
		if said, err := root.ReadFile(at); err == nil && bytes.Equal(said, text) {
			all = append(all, at)
		}
	}
	return all
}

// numbered is the nth name of a file that was put aside.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
}

// isNumbered reports whether a file may have been put aside under a name.
func isNumbered(name, at string) bool {
	ext := filepath.Ext(name)
	text, ok := strings.CutPrefix(strings.TrimSuffix(at, ext), strings.TrimSuffix(name, ext)+"-")
	n, err := strconv.Atoi(text)
	return at == name || ok && err == nil && n > 1 && at == numbered(name, n)
}

// Below are the layers below the changes of a workspace.
func (w Workspace) Below() overlay.Layers {
	return slices.DeleteFunc(overlay.Layers{w.Lower, w.Under, w.Along}, func(dir string) bool { return dir == "" })
}

// Find is where a file of the workspace lies on disk, by its path below the top.
// It is false where there is none, or where that cannot be told.
func (w Workspace) Find(path string) (file string, there bool) {
	all := overlay.Layers{w.Files()}
	if w.Kind() == Overlay {
		all = append(all, w.Shell)
		all = append(all, w.Below()...)
		all = slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
	}
	for _, dir := range all.Folders(disk.Parent(path)) {
		file := filepath.Join(dir, filepath.Base(path))
		at, err := os.Lstat(file)
		if disk.Missing(err) {
			continue
		}
		return file, err == nil && !overlay.IsWhiteout(at)
	}
	return "", false
}

// PlacedFile is where the record lies of the files that were put into the
// workspace beside its base: beside our copy of the index, where no agent writes,
// so that any process can capture after a crash.
func (w Workspace) PlacedFile() string {
	if w.Private() {
		return filepath.Join(w.Dir, "placed") // the index is that of all
	}
	return w.Index + ".placed"
}

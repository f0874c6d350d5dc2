package worktree

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
)

// PutAside writes a file to the top of a workspace that nobody works in, for
// whoever does next, and says what it is called: by the name that was asked
// for, or where the workspace has that, by one with a number. There always is
// one: whoever made the workspace's files must not be able to keep it out.
func (w Workspace) PutAside(name string, text []byte) (string, error) {
	root, err := os.OpenRoot(w.files())
	if err != nil {
		return "", fmt.Errorf("put %s into a workspace: %w", name, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
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

// TakeAside removes what [Workspace.PutAside] has written under a name, unless
// somebody has made something else of it: that is their work.
func (w Workspace) TakeAside(name string, text []byte) error {
	root, err := os.OpenRoot(w.files())
	if err != nil {
		return nil //nolint:nilerr // there is no workspace that it could be in
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for _, at := range aside(root, name, text) {
		if err := root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("take %s out of a workspace: %w", at, err)
		}
	}
	return nil
}

// Aside is what [Workspace.PutAside] has written under a name.
type Aside struct {
	Name string
	Text []byte
}

// passOver leaves out of a survey what lies in the workspace for its agent to
// read, which is still at work.
func (c *capturing) passOver() error {
	if c.Aside == nil {
		return nil
	}
	root, err := os.OpenRoot(c.Workspace.files())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	all := aside(root, c.Aside.Name, c.Aside.Text)
	c.found.changed = slices.DeleteFunc(c.found.changed, func(path string) bool {
		return slices.Contains(all, path) && c.base.find(path) == nil
	})
	return nil
}

// aside are the files that were put aside under a name and are as they were
// written.
func aside(root *os.Root, name string, text []byte) (all []string) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil // whoever captures it says what cannot be read
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

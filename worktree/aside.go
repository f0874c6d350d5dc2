package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// mostAside bounds how many names are tried for a file that is put aside.
const mostAside = 20

// PutAside writes a file to the top of a workspace that nobody works in, for
// whoever does next, and says what it is called: by the name that was asked
// for, or where the workspace has that, by one with a number.
func (w Workspace) PutAside(name string, text []byte) (string, error) {
	root, err := os.OpenRoot(w.files())
	if err != nil {
		return "", fmt.Errorf("put %s into a workspace: %w", name, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for n := 1; n <= mostAside; n++ {
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
	return "", fmt.Errorf("put %s into a workspace: it has files of that name", name)
}

// TakeAside removes what [Workspace.PutAside] has written under a name, unless
// somebody has made something else of it: that is their work.
func (w Workspace) TakeAside(name string, text []byte) error {
	root, err := os.OpenRoot(w.files())
	if err != nil {
		return nil //nolint:nilerr // there is no workspace that it could be in
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for n := 1; n <= mostAside; n++ {
		at := numbered(name, n)
		info, err := root.Lstat(at)
		if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(text)) {
			continue
		}
		said, err := root.ReadFile(at)
		if err != nil || !bytes.Equal(said, text) {
			continue
		}
		if err := root.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("take %s out of a workspace: %w", at, err)
		}
	}
	return nil
}

func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
}

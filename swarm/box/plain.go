package box

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// own copies a file into the layer that the agent's HOME writes to. There it stands
// in the place of the user's file at a path, also once the agent has removed it: the
// layer keeps a mark then. It returns false where that path is in no such layer.
func (c *composing) own(at, from string) (bool, error) {
	home, ok := lowest(slices.Concat(c.open, c.standing()), at)
	rel, in := strings.CutPrefix(at, c.Home+"/")
	if !ok || !in || home.At != c.Home || home.Upper == "" {
		return false, nil
	}
	for _, layer := range append([]string{home.Upper}, home.Lower[:len(home.Lower)-1]...) {
		if exists(filepath.Join(layer, rel)) {
			return true, nil // of an earlier step
		}
	}
	if !c.fresh {
		return false, nil // An agent was there: nothing is written to its layer.
	}
	if err := c.foldersOf(home, filepath.Dir(rel)); err != nil {
		return false, err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return false, err
	}
	info, err := os.Stat(at)
	if err != nil {
		return false, err
	}
	to := filepath.Join(home.Upper, rel)
	return true, errors.Join(os.WriteFile(to, text, 0o600), os.Chmod(to, info.Mode().Perm()|0o600), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// foldersOf makes a folder of HOME in the layer above it, with the modes and times of the
// topmost one below.
func (c *composing) foldersOf(home Piece, rel string) error {
	if rel == "." || exists(filepath.Join(home.Upper, rel)) {
		return nil
	}
	if err := c.foldersOf(home, filepath.Dir(rel)); err != nil {
		return err
	}
	to := filepath.Join(home.Upper, rel)
	if err := os.Mkdir(to, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, layer := range home.Lower {
		if info, err := os.Stat(filepath.Join(layer, rel)); err == nil {
			return errors.Join(os.Chmod(to, info.Mode().Perm()|0o700), os.Chtimes(to, info.ModTime(), info.ModTime()))
		}
	}
	return nil
}

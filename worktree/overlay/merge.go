package overlay

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// Merger makes a single folder of the layers of an overlay. It hard-links the
// files of Own; the others are shared and are cloned.
type Merger struct{ Own string }

// Merge makes the folder to, which must not exist, of the files that layers show.
func (m Merger) Merge(l Layers, to string) error {
	names, err := l.names("")
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for name := range names {
		to := filepath.Join(to, name)
		if below := l.Folders(name); len(below) > 0 {
			err = m.Merge(below, to)
		} else {
			err = m.file(l, name, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file puts the topmost entry of a name in some folders at a path.
func (m Merger) file(l Layers, name, to string) error {
	for _, dir := range l {
		from := filepath.Join(dir, name)
		at, err := os.Lstat(from)
		switch {
		case disk.Missing(err):
			continue
		case err != nil:
			return err
		case at.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(from)
			if err != nil {
				return err
			}
			return os.Symlink(target, to)
		case !at.Mode().IsRegular():
			return nil // git makes no such file
		}
		if strings.HasPrefix(from, m.Own+"/") && os.Link(from, to) == nil {
			return nil
		}
		return git.CloneFile(from, to)
	}
	return nil
}

package initconfig

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/project"
	"agentswarm/swarm/refusal"
)

// CheckFolder refuses to work through something that is no folder: a
// link may lead to anywhere, and its target is not ours.
func CheckFolder(root *os.Root) error {
	dir := filepath.Dir(project.ConfigName)
	stat, err := root.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("init: %w", err)
	case !stat.IsDir():
		return refusal.New("init: %s is not a folder; move it away first", dir)
	}
	return nil
}

// CheckFree refuses to write where something is that must stay.
func CheckFree(root *os.Root, force bool) error {
	stat, err := root.Lstat(project.ConfigName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("init: %w", err)
	case !stat.Mode().IsRegular():
		return refusal.New("init: %s is not a regular file; move it away first", project.ConfigName)
	case !force:
		return refusal.New("init: %s exists; --force replaces it and keeps the old one as config.toml.bak", project.ConfigName)
	}
	if _, err := root.Lstat(project.ConfigName + ".bak"); !errors.Is(err, fs.ErrNotExist) {
		return refusal.New("init: %s.bak exists too; move it away first", project.ConfigName)
	}
	return nil
}

// Write puts the text in its place, whole or not at all. With force it keeps an
// existing file under another name. Without force an existing file, which has
// come since the survey, is an error.
func Write(root *os.Root, text string, force bool) (err error) {
	dir, name := filepath.Dir(project.ConfigName), filepath.Base(project.ConfigName)
	if err := root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	folder, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	fresh := "." + name + "." + rand.Text()
	if err := fspath.WriteNew(folder, fresh, strings.NewReader(text)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Remove(fresh))
		}
	}()
	if force {
		if err := keepOld(folder, name); err != nil {
			return err
		}
		return folder.Rename(fresh, name)
	}
	// Unlike a rename, a link never replaces.
	err = folder.Link(fresh, name)
	switch {
	case err == nil:
		return folder.Remove(fresh)
	case errors.Is(err, fs.ErrExist):
		return err
	default: // this file system has no links
		return folder.Rename(fresh, name)
	}
}

// keepOld copies the file that is to be replaced, if it exists.
func keepOld(folder *os.Root, name string) error {
	old, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fspath.WriteNew(folder, name+".bak", old), old.Close())
}

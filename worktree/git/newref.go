package git

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// errGitsRef says that making a ref is left to git.
var errGitsRef = errors.New("the ref is for git to make")

// createRef makes a ref that does not exist, without a process and as git does
// it: under a lock, on the disk before it has its name. Whatever is not plain
// is an errGitsRef, and nothing is changed then.
func (r *Repo) createRef(name string, id Hash) error {
	if _, err := os.Lstat(filepath.Join(r.CommonDir, "reftable")); !errors.Is(err, fs.ErrNotExist) ||
		!validRef(name) || !r.named(id) {
		return errGitsRef
	}
	file := filepath.Join(r.CommonDir, filepath.FromSlash(name))
	lock, err := openLock(file + ".lock")
	if err != nil {
		return errGitsRef
	}
	unlock := func(err error) error {
		return errors.Join(err, lock.Close(), os.Remove(lock.Name()))
	}
	// Under the lock, so that no other process makes it in between.
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) || !r.unpacked(name) {
		return unlock(errGitsRef)
	}
	if _, err := lock.WriteString(string(id) + "\n"); err != nil {
		return unlock(err)
	}
	if err := lock.Sync(); err != nil {
		return unlock(err)
	}
	if err := lock.Close(); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	if err := os.Rename(lock.Name(), file); err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return nil
}

// openLock makes the lock of a ref. Git takes folders away that are empty.
func openLock(file string) (f *os.File, err error) {
	for range 3 {
		f, err = os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// unpacked reports whether the file of all packed refs has certainly none of a
// name, none above and none below it.
func (r *Repo) unpacked(name string) bool {
	root, err := os.OpenRoot(r.CommonDir)
	if err != nil {
		return false
	}
	defer root.Close()
	above := map[string]bool{name: true}
	for dir := path.Dir(name); dir != "refs" && dir != "."; dir = path.Dir(dir) {
		above[dir] = true
	}
	found, err := scanPacked(root, func(_, ref string) bool {
		return above[ref] || strings.HasPrefix(ref, name+"/")
	})
	return err == nil && !found
}

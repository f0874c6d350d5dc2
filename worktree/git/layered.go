package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// opener opens files of a folder and leads to nowhere else, as an [os.Root].
type opener interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
}

// layeredFiles are the files of an overlay that is not mounted, the topmost
// layer first.
type layeredFiles []*os.Root

// openLayers opens folders; a missing folder has no files.
func openLayers(dirs []string) (layeredFiles, error) {
	var l layeredFiles
	for _, dir := range dirs {
		at, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err == nil && !at.IsDir() {
			break // it hides the layers below it
		}
		var root *os.Root
		if err == nil {
			root, err = os.OpenRoot(dir)
		}
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		if l = append(l, root); opaque(dir) {
			break
		}
	}
	return l, nil
}

func (l layeredFiles) close() error {
	var err error
	for _, root := range l {
		err = errors.Join(err, root.Close())
	}
	return err
}

// OpenFile opens a file of the topmost layer that has anything to say of it.
func (l layeredFiles) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	for i, root := range l {
		if i == len(l)-1 || settled(root, name) {
			return root.OpenFile(name, flag, mode)
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// settled reports whether a layer of an overlay decides the content of a path,
// also if it decides that there is no file.
func settled(root *os.Root, name string) bool {
	path := ""
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		at, err := root.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false
		case err != nil || !at.IsDir():
			return true // a whiteout is no plain file either
		case opaque(filepath.Join(root.Name(), path)):
			return true
		}
	}
	return true
}

// opaque reports whether a folder hides those of its name in the layers below.
func opaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

// Package fspath answers small questions about paths: whether a path exists,
// where it leads, and whether it lies below a folder. It writes no file.
package fspath

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Exists reports whether a file, folder or link is at path. It does not follow
// a link.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Missing reports whether err says that a path does not exist.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Real returns path without symbolic links. It returns path itself if that
// cannot be found out, such as for a path that does not exist.
func Real(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// Below returns path relative to folder, with slashes; "" for the folder itself.
// ok is false for a path that is not absolute or lies elsewhere.
func Below(folder, path string) (rel string, ok bool) {
	path = filepath.Clean(path)
	if folder == "" || !filepath.IsAbs(path) {
		return "", false
	}
	if path == folder {
		return "", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// From returns path as seen from the folder dir: an absolute path unchanged, another below dir.
func From(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// ReadRegular returns at most the first most bytes of a regular file below root.
// ok is false for any other kind of file, and if it cannot be read: a pipe could
// block the reader.
func ReadRegular(root *os.Root, name string, most int64) (text []byte, ok bool) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // it was only read
	if stat, err := f.Stat(); err != nil || !stat.Mode().IsRegular() {
		return nil, false
	}
	text, err = io.ReadAll(io.LimitReader(f, most))
	return text, err == nil
}

// WriteNew makes a file of a folder that is not there yet.
func WriteNew(folder *os.Root, name string, from io.Reader) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, folder.Remove(name))
	}
	return nil
}

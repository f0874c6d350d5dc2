package privatehome

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// openWithin opens a regular file below a trusted folder. No part of the path
// below the folder is followed if it is a symbolic link: a program that can
// change the folder could show a hidden file. It does not wait for the other end
// of a pipe. A file that is not regular counts as missing.
func openWithin(dir, rel string) (*os.File, error) {
	if !filepath.IsLocal(rel) {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrInvalid}
	}
	parts := strings.Split(filepath.Clean(rel), string(filepath.Separator))
	at, err := openRetry(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	for i, part := range parts {
		if err != nil {
			break
		}
		flags := unix.O_NOFOLLOW | unix.O_NONBLOCK
		if i < len(parts)-1 {
			flags |= unix.O_DIRECTORY
		}
		var next int
		next, err = openRetry(at, part, flags)
		_ = unix.Close(at)
		at = next
	}
	path := filepath.Join(dir, rel)
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(at), path)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return f, nil
}

// openRetry opens a file to be read, again where a signal interrupts it.
func openRetry(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// readWithin reads a regular file below a trusted folder, up to a limit in
// bytes.
func readWithin(dir, rel string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := openWithin(dir, rel)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, limit))
	return text, info, err
}

// copyWithin copies a regular file, with its time, from below a trusted folder to
// below another. Programs may write to the latter: a link out of it is an error.
func copyWithin(dir, rel string, to *os.Root, at string, mode fs.FileMode) (err error) {
	source, err := openWithin(dir, rel)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := to.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	// A file that grows meanwhile is cut where it was found to end.
	_, err = io.Copy(target, io.LimitReader(source, info.Size()))
	if err = errors.Join(err, target.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", filepath.Join(dir, rel), err)
	}
	return to.Chtimes(at, info.ModTime(), info.ModTime())
}

package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// transfer moves folders, as a whole if that works, and file by file if they
// cannot be renamed. It can undo its moves.
type transfer struct {
	signals <-chan os.Signal
	undo    []func() error
	emptied []string // folders that everything was moved out of, the inner ones first
}

// interruptError says that a signal came.
type interruptError struct{ signal os.Signal }

func (e *interruptError) Error() string { return "interrupted by " + e.signal.String() }

// code is the exit code of who ends for the signal.
func (e *interruptError) code() int {
	if s, ok := e.signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 128
}

// move moves anything to where there is nothing.
func (t *transfer) move(from, to string) error {
	select {
	case s := <-t.signals:
		return &interruptError{s}
	default:
	}
	err := rename(from, to)
	if err == nil {
		t.undo = append(t.undo, func() error { return renamed(to, from) })
		return nil
	}
	info, lerr := os.Lstat(from)
	if lerr != nil || !info.IsDir() {
		return err
	}
	// A folder that its owner may not write to cannot get another parent.
	closed := errors.Is(err, syscall.EACCES) && info.Mode()&0o200 == 0
	if !errors.Is(err, syscall.EXDEV) && !closed {
		return err
	}
	return t.folder(folder{from: from, to: to, info: info})
}

type folder struct {
	from, to string
	info     fs.FileInfo
}

// folder moves the contents of a folder to a new folder like it. The old folder
// stays until all is done: with it everything can go back.
func (t *transfer) folder(f folder) error {
	const enter = 0o700
	if mode := f.info.Mode(); mode&enter != enter {
		if err := os.Chmod(f.from, mode|enter); err != nil {
			return err
		}
		t.undo = append(t.undo, func() error { return os.Chmod(f.from, mode) })
	}
	if err := os.Mkdir(f.to, enter); err != nil {
		return err
	}
	t.undo = append(t.undo, func() error { return os.Remove(f.to) })
	entries, err := os.ReadDir(f.from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := t.move(f.from+"/"+e.Name(), f.to+"/"+e.Name()); err != nil {
			return err
		}
	}
	t.emptied = append(t.emptied, f.from)
	// Undo moves files out of the folder, so it needs its mode.
	t.undo = append(t.undo, func() error { return os.Chmod(f.to, enter) })
	return f.likeFrom()
}

// likeFrom gives the new folder the attributes of the old folder.
func (f folder) likeFrom() error {
	if err := f.attributes(); err != nil {
		return err
	}
	return errors.Join(os.Chmod(f.to, f.info.Mode()), os.Chtimes(f.to, f.info.ModTime(), f.info.ModTime()))
}

// attributes copies the extended ones, of which access lists are some.
func (f folder) attributes() error {
	size, err := unix.Llistxattr(f.from, nil)
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil
	}
	names := make([]byte, max(size, 0))
	if err == nil {
		size, err = unix.Llistxattr(f.from, names)
	}
	if err != nil {
		return fmt.Errorf("list the attributes of %s: %w", f.from, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names[:size]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl_") {
			continue // the system's
		}
		size, err := unix.Lgetxattr(f.from, name, nil)
		value := make([]byte, max(size, 0))
		if err == nil {
			size, err = unix.Lgetxattr(f.from, name, value)
		}
		if err == nil {
			err = unix.Lsetxattr(f.to, name, value[:size], 0)
		}
		if err != nil {
			return fmt.Errorf("copy the attribute %s of %s: %w", name, f.from, err)
		}
	}
	return nil
}

// moment is the amount of work done at some time; the zero value is none.
type moment struct{ undo, emptied int }

func (t *transfer) now() moment { return moment{len(t.undo), len(t.emptied)} }

// back undoes all that was done since.
func (t *transfer) back(to moment) error {
	var all error
	for i := len(t.undo) - 1; i >= to.undo; i-- {
		all = errors.Join(all, t.undo[i]())
	}
	t.undo, t.emptied = t.undo[:to.undo], t.emptied[:to.emptied]
	return all
}

// finish removes the empty folders. A folder that got a file in the meantime
// stays.
func (t *transfer) finish() {
	for _, dir := range t.emptied {
		_ = syscall.Rmdir(dir)
	}
}

// rename is rename(2). Os.Rename would look at the target first, each time.
func rename(from, to string) error {
	for {
		if err := syscall.Rename(from, to); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// renamed is rename with an error that names the file.
func renamed(from, to string) error {
	if err := rename(from, to); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

package git

import (
	"errors"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reflink makes an empty file share the content of another, where the file
// system can (FICLONE, ioctl_ficlone(2)).
func Reflink(to, from *os.File) error {
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
}

// Clone makes a regular file, with the mode and the times of another, that
// shares all its blocks. It fails where the file system cannot.
func Clone(from, to string) error {
	_, err := CloneAt(Place{unix.AT_FDCWD, from}, Place{unix.AT_FDCWD, to})
	return err
}

// Place is a path from an open folder.
type Place struct {
	Dir  int
	Name string
}

// CloneAt is Clone for paths from open folders. It returns the status of the
// new file. It does not follow a symlink, but returns ELOOP.
func CloneAt(from, to Place) (unix.Stat_t, error) {
	return duplicate(from, to, func(dst, src int, _ int64) error { return unix.IoctlFileClone(dst, src) })
}

// Copier copies regular files in sequence. The zero value is ready.
type Copier struct {
	cannotShare bool // the file system gave no clone
	buf         []byte
}

// At is [CloneAt], but for a file system that cannot share blocks: there it
// copies.
func (c *Copier) At(from, to Place) (unix.Stat_t, error) {
	return duplicate(from, to, func(dst, src int, size int64) error {
		if !c.cannotShare && unix.IoctlFileClone(dst, src) == nil {
			return nil
		}
		c.cannotShare = true
		return c.all(dst, src, size)
	})
}

// all copies a file of size bytes. The files of a base do not change, so that
// no read is needed to find the end.
func (c *Copier) all(dst, src int, size int64) error {
	if c.buf == nil {
		c.buf = make([]byte, 256<<10)
	}
	for size > 0 {
		n, err := unix.Read(src, c.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		size -= int64(n)
		for rest := c.buf[:n]; len(rest) > 0; rest = rest[n:] {
			if n, err = unix.Write(dst, rest); err != nil && !errors.Is(err, unix.EINTR) {
				return err
			}
			n = max(n, 0)
		}
	}
	return nil
}

// duplicate makes a file anew, whose content share puts there, and returns the
// status of the new file. share gets both descriptors and the size in bytes.
//
// A workspace has many small files, so that system calls are the cost: none
// resolves a path but the two that open the files.
func duplicate(from, to Place, share func(dst, src int, size int64) error) (made unix.Stat_t, err error) {
	src, err := openAt(from, unix.O_RDONLY, 0)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, unix.Close(src)) }()
	var at unix.Stat_t
	if err := unix.Fstat(src, &at); err != nil {
		return made, &os.PathError{Op: "stat", Path: from.Name, Err: err}
	}
	dst, err := openAt(to, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, at.Mode&0o777)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, unix.Close(dst)) }()
	if at.Size > 0 { // an empty file may be cloned nowhere
		if err := share(dst, src, at.Size); err != nil {
			return made, &os.PathError{Op: "clone", Path: to.Name, Err: err}
		}
	}
	if err := setTimes(dst, at.Mtim); err != nil {
		return made, &os.PathError{Op: "set the time of", Path: to.Name, Err: err}
	}
	if err := unix.Fstat(dst, &made); err != nil {
		return made, &os.PathError{Op: "stat", Path: to.Name, Err: err}
	}
	if made.Mode&0o777 == at.Mode&0o777 {
		return made, nil
	}
	// The umask took a bit away.
	if err := unix.Fchmod(dst, at.Mode&0o777); err != nil {
		return made, &os.PathError{Op: "chmod", Path: to.Name, Err: err}
	}
	if err := unix.Fstat(dst, &made); err != nil {
		return made, &os.PathError{Op: "stat", Path: to.Name, Err: err}
	}
	return made, nil
}

// setTimes sets both times of an open file, as futimens(3) does.
func setTimes(fd int, when unix.Timespec) error {
	times := [2]unix.Timespec{when, when}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func openAt(p Place, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(p.Dir, p.Name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: p.Name, Err: err}
		}
		return fd, nil
	}
}

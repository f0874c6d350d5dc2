package git

import (
	"errors"
	"os"

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
	return CloneAt(Place{unix.AT_FDCWD, from}, Place{unix.AT_FDCWD, to})
}

// Place is a path from an open folder.
type Place struct {
	Dir  int
	Name string
}

// CloneAt is Clone for paths from open folders. It follows no symlink.
func CloneAt(from, to Place) error {
	return duplicate(from, to, func(dst, src int) error { return unix.IoctlFileClone(dst, src) })
}

// Copier copies regular files, one after the other. The zero value is ready.
type Copier struct {
	cannotShare bool // the file system gave no clone
	buf         []byte
}

// At is [CloneAt], but for a file system that cannot share blocks: there it
// copies.
func (c *Copier) At(from, to Place) error {
	return duplicate(from, to, func(dst, src int) error {
		if !c.cannotShare && unix.IoctlFileClone(dst, src) == nil {
			return nil
		}
		c.cannotShare = true
		return c.all(dst, src)
	})
}

// all copies what is left of a file.
func (c *Copier) all(dst, src int) error {
	if c.buf == nil {
		c.buf = make([]byte, 256<<10)
	}
	for {
		n, err := unix.Read(src, c.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		for rest := c.buf[:n]; len(rest) > 0; rest = rest[n:] {
			if n, err = unix.Write(dst, rest); err != nil && !errors.Is(err, unix.EINTR) {
				return err
			}
			n = max(n, 0)
		}
	}
}

// duplicate makes a file anew, whose content share puts there.
func duplicate(from, to Place, share func(dst, src int) error) (err error) {
	src, err := openAt(from, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(src)) }()
	var at unix.Stat_t
	if err := unix.Fstat(src, &at); err != nil {
		return &os.PathError{Op: "stat", Path: from.Name, Err: err}
	}
	dst, err := openAt(to, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, at.Mode&0o777)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(dst)) }()
	if at.Size > 0 { // an empty file may be cloned nowhere
		if err := share(dst, src); err != nil {
			return &os.PathError{Op: "clone", Path: to.Name, Err: err}
		}
	}
	var made unix.Stat_t
	if err := unix.Fstat(dst, &made); err != nil {
		return &os.PathError{Op: "stat", Path: to.Name, Err: err}
	}
	if made.Mode&0o777 != at.Mode&0o777 { // the umask took a bit away
		if err := unix.Fchmod(dst, at.Mode&0o777); err != nil {
			return &os.PathError{Op: "chmod", Path: to.Name, Err: err}
		}
	}
	when := []unix.Timespec{at.Mtim, at.Mtim}
	if err := unix.UtimesNanoAt(to.Dir, to.Name, when, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "set the time of", Path: to.Name, Err: err}
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

package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

const (
	// smallFile bounds the files that are read at once and not kept open.
	// Captures leave a small pack each, and the number of open files is
	// limited.
	smallFile = 64 << 10
	// readAtOnce is more than the files of a usual patch have.
	readAtOnce = 8 << 10
)

// storedFile is a file that is read here and there.
type storedFile struct {
	io.ReaderAt
	file *os.File // nil: it was small and is in memory
	size int64
}

// openStored goes below package os: each patch comes in a pack of its own,
// and to make its two files ready for waiting, which files never need, is
// a good part of the cost of opening them.
func openStored(path string) (*storedFile, error) {
	fd, err := retried(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	head := make([]byte, readAtOnce)
	n, err := retried(func() (int, error) { return syscall.Pread(fd, head, 0) })
	if err == nil && n < len(head) {
		err = syscall.Close(fd)
		return &storedFile{ReaderAt: bytes.NewReader(head[:n]), size: int64(n)}, err
	}
	f := os.NewFile(uintptr(fd), path)
	if err != nil {
		return nil, errors.Join(&fs.PathError{Op: "read", Path: path, Err: err}, f.Close())
	}
	return storedLarge(f)
}

// retried makes a system call again that a signal broke off.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// storedLarge keeps a file open, or reads it if it is not that large.
func storedLarge(f *os.File) (*storedFile, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.Size() > smallFile {
		return &storedFile{ReaderAt: f, file: f, size: info.Size()}, nil
	}
	raw := make([]byte, info.Size())
	_, err = io.ReadFull(f, raw)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return &storedFile{ReaderAt: bytes.NewReader(raw), size: info.Size()}, nil
}

func (s *storedFile) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	return s.file.Close()
}

package git

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// SparseReader reads a regular file up to a size that is given at the start.
// The holes of a sparse file are returned as zeros without being read, so an
// empty file of a terabyte costs no I/O. A file that ends earlier than the
// given size gives [io.EOF] there.
type SparseReader struct {
	file *os.File
	size int64
	at   int64
	data int64 // up to here the file system has data; at or below at: not known
	hole int64 // up to here there is a hole
}

// NewSparseReader reads the first size bytes of a file that nothing else
// seeks in.
func NewSparseReader(f *os.File, size int64) *SparseReader {
	return &SparseReader{file: f, size: size}
}

// Read implements [io.Reader].
func (r *SparseReader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.at >= r.data && r.at >= r.hole {
		if err := r.look(); err != nil {
			return 0, err
		}
	}
	if r.at < r.hole {
		n := int(min(int64(len(p)), r.hole-r.at))
		clear(p[:n])
		r.at += int64(n)
		return n, nil
	}
	n, err := r.file.ReadAt(p[:min(int64(len(p)), r.data-r.at)], r.at)
	r.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil // the next call finds the end
	}
	return n, err
}

// look finds out whether data or a hole begins here, and where it ends.
func (r *SparseReader) look() error {
	fd := int(r.file.Fd())
	data, err := unix.Seek(fd, r.at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		// No data follows. The file may also have become shorter.
		at, err := r.file.Stat()
		if err != nil {
			return err
		}
		r.hole = min(r.size, at.Size())
		if r.hole <= r.at {
			return io.EOF
		}
		return nil
	case err != nil:
		r.data = r.size // this file system does not tell
		return nil
	case data > r.at:
		r.hole = min(data, r.size)
		return nil
	}
	hole, err := unix.Seek(fd, r.at, unix.SEEK_HOLE)
	if err != nil || hole <= r.at {
		hole = r.size
	}
	r.data = min(hole, r.size)
	return nil
}

// CopySparse copies the content of src, from its start to the size that it has
// now, into dst, which is empty. Holes stay holes and are not read.
func CopySparse(dst, src *os.File) error {
	at, err := src.Stat()
	if err != nil {
		return err
	}
	r := NewSparseReader(src, at.Size())
	buf := make([]byte, min(max(at.Size(), 1), 1<<20))
	for {
		if r.at >= r.data && r.at >= r.hole && r.at < r.size {
			if err := r.look(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		if r.at < r.hole {
			r.at = r.hole
			continue
		}
		from := r.at
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := dst.WriteAt(buf[:n], from); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	return dst.Truncate(r.at)
}

package statefile

import (
	"io"
	"os"
	"path/filepath"
)

// OpenOutput opens for reading a file that an agent or a check wrote, as [Open]
// does relative to the folder of the file: who can replace that folder can also
// write the file.
func OpenOutput(path string) (*os.File, error) {
	return Open(filepath.Dir(path), path, os.O_RDONLY)
}

// Tail returns the last bytes of such a file, at most limit, and its size in bytes.
func Tail(path string, limit int64) (text []byte, size int64, err error) {
	f, err := OpenOutput(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	size = info.Size()
	text, err = io.ReadAll(io.NewSectionReader(f, max(0, size-limit), limit))
	return text, size, err
}

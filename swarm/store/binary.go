package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// buildHead is how much of a binary its name depends on, in bytes. The linker
// writes its build id, a hash of all its inputs, into the first pages.
const buildHead = 64 << 10

// Build names the content of a binary without reading all of it: by its first
// [buildHead] bytes, its size and the time of its last change. The error is that
// of reading the file.
func Build(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("identify binary: %w", err)
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("identify binary: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %d\n", stat.Size(), stat.ModTime().UnixNano())
	if _, err := io.CopyN(sum, file, buildHead); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("identify binary: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// Binary copies the binary at source to a file named by its build and returns
// its path. So the processes that a run starts later are of the build that
// started the run. It uses an existing copy again, unless it was changed since.
// It returns an error if the copy cannot be made.
func (s *State) Binary(build, source string) (string, error) {
	path := s.Bin(build)
	if there, err := Build(path); err == nil && there == build {
		// Its folder says when it was last used.
		now := time.Now()
		return path, os.Chtimes(filepath.Dir(path), now, now)
	}
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return "", noRoom(path, fmt.Errorf("keep binary: %w", err))
	}
	err = copyBinary(temp, source)
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return "", errors.Join(noRoom(path, fmt.Errorf("keep binary: %w", err)), os.Remove(temp.Name()))
	}
	return path, nil
}

// copyBinary fills and closes the new file. It is a copy because a second
// name for the source would change with it, and keep its mode; where the file
// system can share blocks, io.Copy does. The time comes along: it is a part
// of the build's name.
func copyBinary(to *os.File, source string) error {
	from, err := os.Open(source)
	if err != nil {
		return errors.Join(err, to.Close())
	}
	defer from.Close()
	stat, err := from.Stat()
	if err == nil {
		_, err = io.Copy(to, from)
	}
	if err == nil {
		err = to.Chmod(0o700)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return os.Chtimes(to.Name(), stat.ModTime(), stat.ModTime())
}

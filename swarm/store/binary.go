package store

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Build names the content of a Go binary without reading all of it: by how it
// was built, its size and when it was written.
func Build(path string) (string, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("identify binary: %w", err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("identify binary: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d\n%s", stat.Size(), stat.ModTime().UnixNano(), info))
	return hex.EncodeToString(sum[:8]), nil
}

// Binary keeps the binary at source under the name of its build and says
// where, so that what a run starts later is what started the run. One that is
// there is used again, unless it was changed since.
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

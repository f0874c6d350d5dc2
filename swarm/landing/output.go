package landing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/manifest"
)

// How much of the output of a verification is kept, in bytes for each file.
const (
	outputHead = 128 << 10
	outputTail = 384 << 10
	outputLine = 1 << 10 // at least as long as the line between them
)

// BoundOutput cuts the middle out of the output of a check that has ended. It keeps
// whole lines of the head and the tail, and writes between them how many bytes it
// left out. It does nothing if there is no file, or if the check has replaced it by
// something that is not a file of its own.
func BoundOutput(path string) error {
	f, err := statefile.OpenOutput(path)
	if foreign := (*statefile.ForeignError)(nil); errors.Is(err, fs.ErrNotExist) || errors.As(err, &foreign) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil || info.Size() <= outputHead+outputTail+outputLine {
		return err
	}
	head, err := io.ReadAll(io.NewSectionReader(f, 0, outputHead))
	if err != nil {
		return err
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, info.Size()-outputTail, outputTail))
	if err != nil {
		return err
	}
	kept := len(head)
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		head, kept = head[:end+1], end+1
	} else {
		head = append(head, '\n')
	}
	if end := bytes.IndexByte(tail, '\n'); end >= 0 && end+1 < len(tail) {
		tail = tail[end+1:]
	}
	left := info.Size() - int64(kept+len(tail))
	return replaceOutput(path, head, fmt.Appendf(nil, "[swarm left out %d bytes]\n", left), tail)
}

// replaceOutput puts a file with these parts in place of another.
func replaceOutput(path string, parts ...[]byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".output.*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(bytes.Join(parts, nil))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// CheckOutput is the end of the output of a check: of its stdout, which is in file, and of
// its stderr, which is beside it. It is empty if the files are gone.
func CheckOutput(file string) string {
	return outputEnd(file) + outputEnd(strings.TrimSuffix(file, ".out")+".err")
}

func outputEnd(path string) string {
	text, _, err := statefile.Tail(path, 4*manifest.MaxTail)
	if err != nil {
		return ""
	}
	return string(text)
}

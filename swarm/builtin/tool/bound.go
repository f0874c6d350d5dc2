package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const (
	// maxBytes and maxLines bound each output for a model. More would fill most
	// of its memory with a single output.
	maxBytes = 30_000
	maxLines = 2000
)

// path makes the name of a new file for something too long to be shown.
func (b *Bench) path(name string) (string, error) {
	if err := os.MkdirAll(b.Keep, 0o700); err != nil {
		return "", fmt.Errorf("keep its output: %w", err)
	}
	for {
		path := filepath.Join(b.Keep, fmt.Sprintf("%s-%03d", name, b.count.Add(1)))
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return path, nil
		} else if err != nil {
			return "", fmt.Errorf("keep its output: %w", err)
		}
	}
}

// bound is a text as it is shown. Where it is too long, its begin and its end
// are, and the whole is in a file.
func (b *Bench) bound(name, text string) (string, error) {
	if len(text) <= maxBytes && strings.Count(text, "\n") <= maxLines {
		return text, nil
	}
	path, err := b.path(name)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("keep its output: %w", err)
	}
	return ends(strings.NewReader(text), int64(len(text)), path)
}

// boundFile is the same for a text that is in a file already.
func boundFile(path string) (shown string, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, fmt.Errorf("read its output: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", false, fmt.Errorf("read its output: %w", err)
	}
	if info.Size() <= maxBytes {
		text, err := io.ReadAll(f)
		if err != nil {
			return "", false, fmt.Errorf("read its output: %w", err)
		}
		if bytes.Count(text, []byte("\n")) <= maxLines {
			return string(text), true, nil
		}
	}
	shown, err = ends(f, info.Size(), path)
	return shown, false, err
}

// ends are the begin and the end of a text that is too long, with a line
// between them that says where the whole is.
func ends(from io.ReaderAt, size int64, path string) (string, error) {
	half := min(int64(maxBytes/2), size)
	head, tail := make([]byte, half), make([]byte, half)
	if _, err := from.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read its output: %w", err)
	}
	if _, err := from.ReadAt(tail, size-half); err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read its output: %w", err)
	}
	first, last := string(head), string(tail)
	for i := 0; i < utf8.UTFMax && len(last) > 0 && !utf8.RuneStart(last[0]); i++ {
		last = last[1:]
	}
	for i := 0; i < utf8.UTFMax && len(first) > 0 && !utf8.ValidString(first); i++ {
		first = first[:len(first)-1]
	}
	first, last = firstLines(first, maxLines/2), lastLines(last, maxLines/2)
	return fmt.Sprintf("%s\n… [%d bytes in all; the middle is left out; the whole output is in %s] …\n%s",
		strings.TrimSuffix(first, "\n"), size, path, last), nil
}

func firstLines(text string, n int) string {
	at := 0
	for range n {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:at]
}

func lastLines(text string, n int) string {
	at := len(strings.TrimSuffix(text, "\n"))
	for range n {
		i := strings.LastIndexByte(text[:at], '\n')
		if i < 0 {
			return text
		}
		at = i
	}
	return text[at+1:]
}

// clip is a line of at most so many bytes.
func clip(line string, most int) string {
	if len(line) <= most {
		return line
	}
	for most > 0 && !utf8.RuneStart(line[most]) {
		most--
	}
	return line[:most] + "…"
}

// Package boundedline reads the lines of a text whose author is not trusted. A line
// that is too long takes no memory beyond the bound, and the lines after it are read.
package boundedline

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// LongError is a line above the bound. The reader stands at the next line.
type LongError struct {
	Most int // bytes
}

func (e *LongError) Error() string {
	return fmt.Sprintf("the line is longer than %d bytes", e.Most)
}

// Read returns the next line, without its line feed. A line above most bytes is a
// [*LongError], the end of the text is [io.EOF]. Other errors are those of r.
func Read(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for n := 0; ; {
		part, err := r.ReadSlice('\n')
		if n += len(part); n <= most+1 {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || n == 0):
			return nil, err
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); n > most+1 || len(line) > most {
			return nil, &LongError{most}
		}
		return line, nil
	}
}

package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Mark says when a program printed the bytes of its file from an offset on.
type Mark struct {
	Offset int64     // in bytes
	Time   time.Time // of the first byte there, by the clock of this machine
}

// marksOf is the file of the marks of a file of output.
func marksOf(stdout string) string { return stdout + ".times" }

// markGap is the least time between two marks: times are told in seconds.
const markGap = time.Second

// marker writes the marks of a stream. No result depends on them: an error ends
// them and not the program.
type marker struct {
	file   *os.File // nil before the first byte
	last   time.Time
	broken bool
}

// note notes that output came at an offset.
func (m *marker) note(stdout string, offset int64, now time.Time) {
	if m.broken || m.file != nil && now.Sub(m.last) < markGap {
		return
	}
	var err error
	if m.file == nil {
		m.file, err = os.OpenFile(marksOf(stdout), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err == nil {
		_, err = fmt.Fprintf(m.file, "%d %d\n", offset, now.UnixMilli())
	}
	m.last, m.broken = now, err != nil
}

func (m *marker) close() {
	if m.file != nil {
		_ = m.file.Close() // see [marker]
	}
}

// maxMarks bounds the marks that are read of a file: a mark a second for three
// days.
const maxMarks = 1 << 18

// Marks reads the marks of a file of output, in its order; none where none were
// noted. Lines that are no marks are left out. The error is that of reading.
func Marks(stdout string) ([]Mark, error) {
	f, err := os.Open(marksOf(stdout))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the times of output: %w", err)
	}
	defer f.Close()
	marks, err := parseMarks(f)
	if err != nil {
		return nil, fmt.Errorf("read the times of output: %w", err)
	}
	return marks, nil
}

// parseMarks reads lines "OFFSET MILLISECONDS". A line that is cut off, or is
// not behind the mark before it, is left out.
func parseMarks(r io.Reader) ([]Mark, error) {
	var marks []Mark
	lines := bufio.NewReader(io.LimitReader(r, 40*maxMarks))
	for len(marks) < maxMarks {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return marks, nil
		}
		if err != nil {
			return nil, err
		}
		offsetText, timeText, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		offset, badOffset := strconv.ParseInt(offsetText, 10, 64)
		millis, badTime := strconv.ParseInt(timeText, 10, 64)
		if badOffset != nil || badTime != nil || offset < 0 || millis < 0 ||
			len(marks) > 0 && offset <= marks[len(marks)-1].Offset {
			continue
		}
		marks = append(marks, Mark{Offset: offset, Time: time.UnixMilli(millis)})
	}
	return marks, nil
}

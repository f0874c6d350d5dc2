package inspect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"agentswarm/swarm/exit"
	"agentswarm/swarm/proc"
)

// logWindow is which lines of a log are printed, and how.
type logWindow struct {
	tailed     bool // only the last lines of each agent, as many as tail
	tail       int
	since      time.Time // zero: from the beginning
	timestamps bool
}

func readLogWindow(c *cli.Context, now time.Time) (logWindow, error) {
	w := logWindow{tailed: c.IsSet("tail"), tail: c.Int("tail"), timestamps: c.Bool("timestamps")}
	if c.Bool("raw") && c.Bool("json") {
		return w, exit.Usagef("logs: --raw and --json exclude each other")
	}
	if w.timestamps && (c.Bool("raw") || c.Bool("json")) {
		return w, exit.Usagef("logs: --timestamps goes with neither --raw nor --json")
	}
	if w.tail < 0 {
		return w, exit.Usagef("logs: --tail %d: want 0 or more lines", w.tail)
	}
	if !c.IsSet("since") {
		return w, nil
	}
	text := c.String("since")
	if back, err := time.ParseDuration(text); err == nil && back >= 0 {
		w.since = now.Add(-back)
		return w, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			w.since = at
			return w, nil
		}
	}
	return w, exit.Usagef("logs: --since %q: want a duration such as 10m, or a time such as 2006-01-02T15:04:05Z", text)
}

// narrow reports whether lines have to be told apart, so that bytes cannot be
// passed on as they are.
func (w logWindow) narrow() bool { return w.tailed || !w.since.IsZero() || w.timestamps }

// readMarks reads when the file of the round was printed. A file without marks is
// as old as its last change.
func (s *stream) readMarks(l *logger) error {
	if !l.window.narrow() {
		return nil
	}
	if l.live {
		s.marks, s.now = nil, time.Now() // new text was printed just now
		return nil
	}
	file := s.file(l, s.round)
	marks, err := proc.Marks(file)
	if err != nil {
		return err
	}
	s.marks = marks
	if len(marks) > 0 {
		return nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read the output of %s: %w", s.id, err)
	}
	s.now = info.ModTime()
	return nil
}

// timed takes the time of the text that is read next, and returns how far it
// holds, or the bound given where that is nearer; -1 is no bound.
func (s *stream) timed(bound int64) int64 {
	for len(s.marks) > 0 && s.marks[0].Offset <= s.at {
		s.now, s.marks = s.marks[0].Time, s.marks[1:]
	}
	if len(s.marks) > 0 && (bound < 0 || s.marks[0].Offset < bound) {
		return s.marks[0].Offset
	}
	return bound
}

// emit prints a line, which has its line break, or keeps it where only the last
// lines are printed.
func (l *logger) emit(s *stream, line string) error {
	if !l.window.since.IsZero() && s.now.Before(l.window.since) {
		return nil
	}
	if l.window.timestamps && !s.now.IsZero() {
		line = s.now.Format(time.RFC3339) + " " + line
	}
	if !l.window.tailed || l.live {
		_, err := l.out.WriteString(line)
		return err
	}
	s.kept = append(s.kept, line)
	if drop := len(s.kept) - l.window.tail; drop > 0 {
		s.kept = append(s.kept[:0], s.kept[drop:]...)
	}
	return nil
}

// release prints the lines that were kept. Later lines are printed as they come.
func (l *logger) release() error {
	l.live = true
	for _, s := range l.streams {
		for _, line := range s.kept {
			if _, err := l.out.WriteString(line); err != nil {
				return err
			}
		}
		s.kept = nil
	}
	return nil
}

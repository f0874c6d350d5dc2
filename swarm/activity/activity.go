// Package activity reads the present work of live agents from the files that they
// write: the latest tool with its target, or the latest line, and the tokens of
// the current attempt. It reads only new text since the last look.
//
// It shows nothing and decides nothing; faces do.
package activity

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Bounds of a look at an agent, in bytes.
const (
	maxLook = 256 << 10 // that are parsed; the next look goes on
	maxLine = 4 << 10   // of the end of a file that is searched for its last line
)

// Now is the present work of an agent.
type Now struct {
	// Text is the latest tool with its target, or the latest line. It is foreign
	// text on one line; empty where nothing is known.
	Text string
	// Attempt is the attempt that Usage is of.
	Attempt int
	// Usage is the usage that its model has reported in the attempt. See Uncounted.
	Usage task.Usage
	// Again is the retry that the agent makes by itself, if that is the latest thing
	// that it has reported. Its time is zero where the agent tells none.
	Again *store.Again
}

// Uncounted is the part of the usage that is not yet in the usage of an agent. That
// includes an attempt when it ends, and n may be older.
func (n Now) Uncounted(a *store.Agent) task.Usage {
	if a == nil || n.Attempt != a.Attempt || a.SpentBy >= n.Attempt {
		return task.Usage{}
	}
	return n.Usage
}

// Parse returns a parser for the output of an agent, or nil where the output is
// plain text.
type Parse func(*store.Agent) agent.Parser

// Reader reads the activity of the agents of a run. It is for a single goroutine.
type Reader struct {
	run   *store.Run
	parse Parse
	of    map[task.ID]*stream
}

// New returns a reader that has not looked at anything yet.
func New(run *store.Run, parse Parse) *Reader {
	return &Reader{run: run, parse: parse, of: map[task.ID]*stream{}}
}

// Look reads new text and returns the work of the agent. A file that cannot be
// read tells nothing new.
func (r *Reader) Look(a *store.Agent) Now {
	is, live := a.Status.(*task.Running)
	if !live || a.Attempt == 0 {
		delete(r.of, a.ID)
		return Now{}
	}
	s := r.of[a.ID]
	if s == nil || s.attempt != a.Attempt {
		s = &stream{attempt: a.Attempt, parser: r.parse(a)}
		r.of[a.ID] = s
	}
	dir := r.run.Attempt(a.ID, a.Attempt)
	if is.State == task.Checking {
		return s.now(checkLine(dir), nil)
	}
	s.look(dir)
	return s.now(s.text, s.again)
}

// stream is the output of an attempt, as far as it was read.
type stream struct {
	attempt int
	parser  agent.Parser // nil: the output is plain text
	round   int          // of the attempt, from 0
	at      int64
	text    string
	usage   task.Usage
	again   *store.Again
}

// now is the work of the agent; empty where nothing is known.
func (s *stream) now(text string, again *store.Again) Now {
	n := Now{Text: text, Usage: s.usage, Again: again}
	if n != (Now{}) {
		n.Attempt = s.attempt
	}
	return n
}

// look reads on in the file of the round, and then in that of the next round.
func (s *stream) look(dir string) {
	file := s.file(dir)
	stat, err := os.Stat(file)
	if err != nil {
		return
	}
	plain := s.parser == nil
	switch {
	case plain && stat.Size() != s.at:
		s.at = stat.Size()
		s.record(LastLine(file))
	case plain && stat.Size() == 0:
		s.record(LastLine(filepath.Join(dir, "stderr")))
	case !plain && stat.Size() > s.at:
		s.read(file, stat.ModTime())
	}
	next := *s
	next.round++
	if _, err := os.Stat(next.file(dir)); err == nil && (plain || s.at >= stat.Size()) {
		s.round, s.at = next.round, 0
	}
}

// file is the output of the round. A repeated request for an answer begins a new
// round.
func (s *stream) file(dir string) string {
	if s.round == 0 {
		return filepath.Join(dir, "stdout")
	}
	return filepath.Join(dir, fmt.Sprintf("stdout.%d", s.round+1))
}

// read parses new text in a file that was last written at a time, at most maxLook
// bytes.
func (s *stream) read(file string, written time.Time) {
	f, err := statefile.OpenOutput(file)
	if err != nil {
		return
	}
	defer f.Close() // it was only read
	part, err := io.ReadAll(io.NewSectionReader(f, s.at, maxLook))
	if err != nil {
		return
	}
	s.at += int64(len(part))
	s.feed(part, written)
}

// take notes an event that the agent has reported at a time.
func (s *stream) take(e event.Event, at time.Time) {
	s.retry(e, at)
	switch e := e.(type) {
	case *event.ToolStart:
		s.record(toolText(e.Name, e.Input))
	case *event.Text:
		s.record(lastOf([]byte(e.Text)))
	case *event.Spent:
		s.usage.Add(e.Usage)
	}
}

func (s *stream) record(text string) {
	if text != "" {
		s.text = text
	}
}

// checkLine is the last line that the latest check of an attempt has printed.
func checkLine(dir string) string {
	name := filepath.Join(dir, "verify")
	for n := 2; ; n++ {
		next := filepath.Join(dir, fmt.Sprintf("verify.%d", n))
		if _, err := os.Stat(next + ".out"); err != nil {
			break
		}
		name = next
	}
	if line := LastLine(name + ".out"); line != "" {
		return line
	}
	return LastLine(name + ".err")
}

// LastLine returns the last line of a file that is not blank. It is empty if the file cannot be read.
func LastLine(file string) string {
	part, _, err := statefile.Tail(file, maxLine)
	if err != nil {
		return ""
	}
	return lastOf(part)
}

// lastOf is the last line of a text that is not blank, at most maxLine bytes.
func lastOf(text []byte) string {
	text = bytes.TrimSpace(text[max(0, len(text)-maxLine):])
	if at := bytes.LastIndexAny(text, "\r\n"); at >= 0 {
		text = text[at+1:]
	}
	return strings.ToValidUTF8(string(bytes.TrimSpace(text)), "\uFFFD")
}

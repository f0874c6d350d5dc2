package activity

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"time"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// maxEnd is how much of each end of a file tells of a retry, in bytes. The line of
// a retry is short, and only a latest line counts.
const maxEnd = 32 << 10

// Retry returns the retry that a live agent makes by itself, if that is the latest
// thing that it has reported; nil otherwise. It reads a bounded part of the output
// and keeps nothing.
func (r *Reader) Retry(a *store.Agent) *store.Again {
	is, live := a.Status.(*task.Running)
	if !live || is.State != task.Working || a.Attempt == 0 {
		return nil
	}
	s := &stream{attempt: a.Attempt, parser: r.parse(a)}
	if s.parser == nil {
		return nil
	}
	dir := r.run.Attempt(a.ID, a.Attempt)
	file := s.file(dir)
	for {
		s.round++
		next := s.file(dir)
		if _, err := os.Stat(next); err != nil {
			break
		}
		file = next
	}
	s.readEnds(file)
	return s.again
}

// readEnds parses the first and the last lines of a file. The first ones name the
// conversation, without which some parsers pass over the rest.
func (s *stream) readEnds(file string) {
	f, err := statefile.OpenOutput(file)
	if err != nil {
		return
	}
	defer f.Close() // it was only read
	stat, err := f.Stat()
	if err != nil {
		return
	}
	part, err := io.ReadAll(io.NewSectionReader(f, 0, maxEnd))
	if err != nil {
		return
	}
	if rest := stat.Size() - maxEnd; rest > 0 {
		s.parser.Feed(part[:bytes.LastIndexByte(part, '\n')+1])
		part, err = io.ReadAll(io.NewSectionReader(f, max(maxEnd, stat.Size()-maxEnd), maxEnd))
		if err != nil {
			return
		}
		part = part[bytes.IndexByte(part, '\n')+1:]
	}
	s.feed(part, stat.ModTime())
}

// feed parses text that was written at a time.
func (s *stream) feed(text []byte, at time.Time) {
	for _, e := range s.parser.Feed(text) {
		s.take(e, at)
	}
}

// retry notes whether the agent waits for another try of a request. Any sign that
// it goes on ends that.
func (s *stream) retry(e event.Event, at time.Time) {
	switch e := e.(type) {
	case *event.Retry:
		s.again = &store.Again{Kind: e.Kind, Reason: e.Message}
		if wait := cmp.Or(e.RetryAfterMS, e.NextMS); wait > 0 {
			s.again.At = at.Add(time.Duration(min(wait, maxWait.Milliseconds())) * time.Millisecond)
		}
	case *event.Raw, *event.Session:
		// A session is named again after some retries.
	default:
		s.again = nil
	}
}

// maxWait bounds the time of the next try, which is foreign text.
const maxWait = 30 * 24 * time.Hour

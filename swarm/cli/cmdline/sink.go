package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"agentswarm/internal/jq"
	"agentswarm/swarm/pager"
)

// Sink is stdout with a memory: of how much was written, and of the first
// write that failed. Without it a result cut short by a full disk would exit 0.
type Sink struct {
	mu     sync.Mutex // guards the fields below; held across writes to keep order
	Writer io.Writer
	last   io.Closer // the pager or filter that the output passes through; nil: none
	n      int64
	err    error
}

// Write counts the bytes and keeps the first error. A pipe that nobody reads ends
// this process.
func (s *Sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := lastWriter{s.Writer}.Write(p)
	s.n += int64(n)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// lastWriter ends this process where it writes to a file that is a pipe without a
// reader.
type lastWriter struct{ io.Writer }

func (l lastWriter) Write(p []byte) (int, error) {
	n, err := l.Writer.Write(p)
	if file, ok := l.Writer.(*os.File); ok && errors.Is(err, syscall.EPIPE) {
		endByPipe(file)
	}
	return n, err
}

// Fd lets terminal detection see through the sink. No file: no such number.
func (s *Sink) Fd() uintptr { return FdOf(s.Writer) }

// FdOf is the descriptor of a file; no such number for any other writer.
func FdOf(w io.Writer) uintptr {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Written is the number of bytes written so far.
func (s *Sink) Written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

func (s *Sink) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Filter has a query applied to all that is written from now on; nil changes
// nothing. A filtered result is for programs: it has no terminal.
func (s *Sink) Filter(ctx context.Context, q *jq.Query) {
	if q != nil {
		s.Through(jq.NewFilter(ctx, q, lastWriter{s.Writer}))
	}
}

// Through has all that is written pass w, which is closed at the end.
func (s *Sink) Through(w io.WriteCloser) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Writer, s.last = w, w
}

// End closes the pager or filter, and returns the error of the
// command: its own, else that of the output. That the user has left the pager is
// no error.
func (s *Sink) End(err error) error {
	s.mu.Lock()
	last, failed := s.last, s.err
	s.mu.Unlock()
	if errors.Is(err, pager.ErrQuit) {
		err = nil
	}
	if last != nil {
		closing := last.Close()
		if err == nil {
			err = closing
		}
	}
	if err == nil && failed != nil && !errors.Is(failed, pager.ErrQuit) {
		err = fmt.Errorf("write standard output: %w", failed)
	}
	return err
}

package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunk is read and written at once; its two buffers are the only memory
	// that output takes, however much of it there is.
	chunk = 64 << 10
	// quiet is how long a pipe may stay open, and silent, after the last of
	// ours is gone. Who holds it then is a stranger it was passed to.
	quiet = time.Second
	// rest bounds what may be read after that: the most that a pipe holds.
	rest = 1 << 20
)

// output drains the agent's two pipes into files, to the end, whatever
// happens to the files.
type output struct {
	limit   int64
	seen    atomic.Int64
	dropped atomic.Int64
	fresh   chan struct{} // of one place; there is something to report
	full    chan struct{} // closed when more than limit was seen
	once    sync.Once     // closes full
	streams [2]*stream    // stdout, stderr
	drains  sync.WaitGroup
}

// stream is one of the pipes with its file.
type stream struct {
	from *os.File // the pipe's read end
	to   *os.File
	kept atomic.Int64
	err  error // of the first write that failed; the drain owns it
}

// newOutput creates the files, which must be new: nothing that an earlier
// attempt has written is ever overwritten.
func newOutput(s *Spec) (*output, error) {
	o := &output{
		limit: s.OutputLimit,
		fresh: make(chan struct{}, 1), full: make(chan struct{}),
	}
	for i, path := range []string{s.Stdout, s.Stderr} {
		f, err := os.OpenFile(path,
			os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, errors.Join(
				fmt.Errorf("create an output file: %w", err), o.close())
		}
		o.streams[i] = &stream{to: f}
	}
	return o, nil
}

// pipes opens the pipes and returns the ends that the agent writes to.
func (o *output) pipes() ([2]*os.File, error) {
	var ends [2]*os.File
	for i, s := range o.streams {
		r, w, err := os.Pipe()
		if err != nil {
			return ends, fmt.Errorf("open a pipe for output: %w", err)
		}
		s.from, ends[i] = r, w
	}
	return ends, nil
}

// drain starts to read; wait ends it.
func (o *output) drain() {
	for _, s := range o.streams {
		o.drains.Go(func() { o.copy(s) })
	}
}

// copy reads a pipe until nobody can write to it any more.
func (o *output) copy(s *stream) {
	buf := make([]byte, chunk)
	fresh, late := false, 0
	for {
		n, err := s.from.Read(buf)
		if n > 0 {
			o.keep(s, buf[:n])
			fresh = true
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && fresh && late < rest/chunk:
			// The deadline also strikes while a slow disk keeps us from
			// reading what is there.
			fresh = false
			late++
			_ = s.from.SetReadDeadline(time.Now().Add(quiet))
		default:
			return
		}
	}
}

// keep writes what may be written and counts the rest.
func (o *output) keep(s *stream, b []byte) {
	room := o.limit - (o.seen.Add(int64(len(b))) - int64(len(b)))
	if room < int64(len(b)) {
		o.once.Do(func() { close(o.full) })
	}
	n := 0
	if s.err == nil && room > 0 {
		n, s.err = s.to.Write(b[:min(int64(len(b)), room)])
	}
	s.kept.Add(int64(n))
	o.dropped.Add(int64(len(b) - n))
	select {
	case o.fresh <- struct{}{}:
	default:
	}
}

// wait returns when both pipes are drained. It is called when the last of
// the family is gone, so the end of the pipes is near.
func (o *output) wait() {
	for _, s := range o.streams {
		_ = s.from.SetReadDeadline(time.Now().Add(quiet))
	}
	o.drains.Wait()
}

// progress is what stands in the files.
func (o *output) progress() Progress {
	return Progress{
		Stdout: o.streams[0].kept.Load(), Stderr: o.streams[1].kept.Load(),
	}
}

// overflowed reports whether more than the limit was printed.
func (o *output) overflowed() bool { return o.seen.Load() > o.limit }

// failed reports, after wait and close, whether a file is incomplete.
func (o *output) failed() bool {
	return o.streams[0].err != nil || o.streams[1].err != nil
}

// close closes everything and returns why files are incomplete.
func (o *output) close() error {
	var errs []error
	for _, s := range o.streams {
		if s == nil {
			continue
		}
		if s.from != nil {
			_ = s.from.Close() // A read end has nothing to lose.
		}
		// Some file systems find only now that the disk is full.
		if err := s.to.Close(); s.err == nil {
			s.err = err
		}
		if s.err != nil {
			errs = append(errs, fmt.Errorf("write output: %w", s.err))
		}
	}
	return errors.Join(errs...)
}

package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// between is the least time between two reports of output.
	between = 200 * time.Millisecond
	// chunk is read and written at once; its two buffers are the only memory
	// that output takes, however much of it there is.
	chunk = 64 << 10
	// quiet bounds the time that a pipe may stay open, and silent, after the
	// last of our processes is gone. A stranger that it was passed to holds it
	// then.
	quiet = time.Second
	// rest bounds the reads after that, in bytes: the capacity of a pipe.
	rest = 1 << 20
)

// output drains the agent's output into files, to the end, even if the files
// fail. The agent prints into two pipes, which the supervisor drains, or to a
// terminal, which the engine drains.
type output struct {
	limit   int64
	seen    atomic.Int64
	dropped atomic.Int64
	fresh   chan struct{} // with a capacity of 1; there is something to report
	full    chan struct{} // closed when more than limit was seen
	once    sync.Once     // closes full
	streams []*stream     // stdout, stderr; none in the supervisor of a terminal
	drains  sync.WaitGroup
}

// source is the reading end of a stream.
type source interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// stream is a file with the source that is drained into it.
type stream struct {
	from source // nil for the stderr of a terminal
	to   *os.File
	// show, if not nil, gets each piece of output, and how much of it was kept.
	show  func(b []byte, kept int)
	kept  atomic.Int64
	marks *marker // when it was printed; nil: not wanted
	err   error   // of the first write that failed; the drain owns it
}

func newOutput(limit int64) *output {
	return &output{
		limit: cmp.Or(limit, DefaultOutputLimit),
		fresh: make(chan struct{}, 1), full: make(chan struct{}),
	}
}

// create creates the files, which must be new: nothing that an earlier
// attempt has written is ever overwritten. It creates both or none.
func (o *output) create(s *Spec) error {
	for _, path := range []string{s.Stdout, s.Stderr} {
		f, err := os.OpenFile(path,
			os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return errors.Join(
				fmt.Errorf("create an output file: %w", err), o.discard())
		}
		o.streams = append(o.streams, &stream{to: f})
	}
	if s.Times {
		o.streams[0].marks = &marker{}
	}
	return nil
}

// open creates the files, and the pipes for them, and returns the ends that
// the agent writes to, also those that were opened before an error.
func (o *output) open(s *Spec) (ends [2]*os.File, err error) {
	if err := o.create(s); err != nil {
		return ends, err
	}
	for i, to := range o.streams {
		if i == 1 && s.Merge {
			ends[1] = ends[0]
			break
		}
		r, w, err := os.Pipe()
		if err != nil {
			return ends, fmt.Errorf("open a pipe for output: %w", err)
		}
		to.from, ends[i] = r, w
	}
	return ends, nil
}

// drain starts to read; wait ends it.
func (o *output) drain() {
	for _, s := range o.streams {
		if s.from != nil {
			o.drains.Go(func() { o.copy(s) })
		}
	}
}

// copy reads until no process can write any more. A pipe then returns EOF, and
// a terminal EIO.
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
		case errors.Is(err, os.ErrDeadlineExceeded) && (fresh || late == 0) && late < rest/chunk:
			// The deadline also passes while a slow disk, or a machine that
			// does not let us run, keeps us from reading waiting data.
			fresh = false
			late++
			_ = s.from.SetReadDeadline(time.Now().Add(quiet))
		default:
			return
		}
	}
}

// keep writes the bytes that the limit allows and counts the rest.
func (o *output) keep(s *stream, b []byte) {
	room := o.limit - (o.seen.Add(int64(len(b))) - int64(len(b)))
	if room < int64(len(b)) {
		o.once.Do(func() { close(o.full) })
	}
	n := 0
	if s.err == nil && room > 0 {
		if s.marks != nil {
			s.marks.note(s.to.Name(), s.kept.Load(), time.Now())
		}
		n, s.err = s.to.Write(b[:min(int64(len(b)), room)])
	}
	s.kept.Add(int64(n))
	o.dropped.Add(int64(len(b) - n))
	if s.show != nil {
		s.show(b, n)
	}
	select {
	case o.fresh <- struct{}{}:
	default:
	}
}

// wait returns when all is drained. It is called when the last of
// the family is gone, so the end is near.
func (o *output) wait() {
	for _, s := range o.streams {
		if s.from != nil {
			_ = s.from.SetReadDeadline(time.Now().Add(quiet))
		}
	}
	o.drains.Wait()
}

// reportProgress reports the progress of the files when they grow, but not too often,
// until over.
func (o *output) reportProgress(over <-chan struct{}, report func(Progress)) {
	for {
		select {
		case <-o.fresh:
		case <-over:
			return
		}
		report(o.progress())
		select {
		case <-time.After(between):
		case <-over:
			return
		}
	}
}

// progress is the number of bytes in each file.
func (o *output) progress() Progress {
	var kept [2]int64
	for i, s := range o.streams {
		kept[i] = s.kept.Load()
	}
	return Progress{Stdout: kept[0], Stderr: kept[1]}
}

// settle closes all files after wait, and records the byte counts and errors in
// exit, with the given other error.
func (o *output) settle(exit *Exit, wrong error) {
	g := o.progress()
	exit.StdoutBytes, exit.StderrBytes = g.Stdout, g.Stderr
	exit.Dropped = o.dropped.Load()
	if err := errors.Join(o.close(), wrong); err != nil {
		exit.Text = err.Error()
	}
	switch {
	case o.overflowed():
		exit.Reason = OutputLimit
		exit.Text = fmt.Sprintf("it printed more than %d bytes", o.limit)
	case o.failed():
		exit.Reason = Disk
	}
}

// overflowed reports whether more than the limit was printed.
func (o *output) overflowed() bool { return o.seen.Load() > o.limit }

// failed reports, after wait and close, whether a file is incomplete.
func (o *output) failed() bool {
	return slices.ContainsFunc(o.streams, func(s *stream) bool {
		return s.err != nil
	})
}

// close closes everything and returns why files are incomplete.
func (o *output) close() error {
	var errs []error
	for _, s := range o.streams {
		if s.from != nil {
			_ = s.from.Close() // A reader has nothing to lose.
		}
		if s.marks != nil {
			s.marks.close()
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

// discard closes everything and removes the files, to which nothing was
// written.
func (o *output) discard() error {
	err := o.close()
	for _, s := range o.streams {
		err = errors.Join(err, os.Remove(s.to.Name()))
	}
	return err
}

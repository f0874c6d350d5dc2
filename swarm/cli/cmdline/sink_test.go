package cmdline

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"agentswarm/internal/jq"
	"agentswarm/swarm/pager"
)

// fullDisk is a disk without room.
type fullDisk struct{ room int }

var errFull = errors.New("no space left")

func (f *fullDisk) Write(p []byte) (int, error) {
	if n := f.room; n < len(p) {
		f.room = 0
		return n, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

func TestSink(t *testing.T) {
	t.Parallel()
	s := &Sink{Writer: &fullDisk{room: 5}}
	if n, err := s.Write([]byte("abc")); n != 3 || err != nil || s.Failure() != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if _, err := s.Write([]byte("def")); !errors.Is(err, errFull) {
		t.Errorf("Write past the end = %v, want %v", err, errFull)
	}
	_, _ = s.Write(nil)
	if !errors.Is(s.Failure(), errFull) || s.Written() != 5 {
		t.Errorf("sink remembers %v after %d bytes, want %v after 5", s.Failure(), s.Written(), errFull)
	}
	if err := s.End(nil); !errors.Is(err, errFull) {
		t.Errorf("End = %v, want %v", err, errFull)
	}
	own := errors.New("own")
	if err := s.End(own); !errors.Is(err, own) || errors.Is(err, errFull) {
		t.Errorf("End of a command that failed = %v, want its own error", err)
	}
}

// closer records that it was closed, and fails as told.
type closer struct {
	io.Writer
	closed int
	err    error
}

func (c *closer) Close() error { c.closed++; return c.err }

// TestSinkEnds holds which errors of a pager end a command with an error.
func TestSinkEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tt := range []struct {
		name          string
		command, pipe error
		want          error
	}{
		{"a good end", nil, nil, nil},
		{"a broken pager", nil, broken, broken},
		{"a command that failed", errFull, broken, errFull},
		{"a pager that was left", pager.ErrQuit, nil, nil},
	} {
		c := &closer{Writer: io.Discard, err: tt.pipe}
		s := &Sink{Writer: io.Discard}
		s.Through(c)
		if err := s.End(tt.command); !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) || c.closed != 1 {
			t.Errorf("%s: End = %v, want %v; closed %d times", tt.name, err, tt.want, c.closed)
		}
	}
}

// TestSinkFilter holds that a query sees all that is written, and that a sink
// without a query stays a file.
func TestSinkFilter(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	query, err := jq.Compile(".run")
	if err != nil {
		t.Fatal(err)
	}
	s := &Sink{Writer: &out}
	s.Filter(t.Context(), query)
	_, _ = io.WriteString(s, `{"run":`)
	_, _ = io.WriteString(s, `"r1"}`+"\n")
	if end := s.End(err); end != nil || out.String() != "r1\n" {
		t.Errorf("filtered output = %q, %v", out.String(), end)
	}
	file := &Sink{Writer: os.Stdout}
	file.Filter(t.Context(), nil)
	if file.Fd() != os.Stdout.Fd() || Unwrapped(file) != io.Writer(os.Stdout) || FdOf(&out) != ^uintptr(0) {
		t.Error("a sink hides its file, or a buffer has a descriptor")
	}
}

package cli

import (
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/cli/cmdline"
)

// envOf makes a Getenv from NAME=value words.
func envOf(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if n, value, _ := strings.Cut(v, "="); n == name {
				return value
			}
		}
		return ""
	}
}

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
	s := &cmdline.Sink{W: &fullDisk{room: 5}}
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
}

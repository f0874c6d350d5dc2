package runcmd

import (
	"io"
	"sync/atomic"

	"agentswarm/internal/terminal"
	"agentswarm/swarm/cli/cmdline"
)

// firstSign is a stream for people on whose terminal a line stands until
// something else is written: the sign that a command has begun, where the first
// result takes a moment, as the plan of a large repository does.
type firstSign struct {
	io.Writer
	stands atomic.Bool
}

// sign shows the line, where the terminal can take it back.
func sign(w io.Writer, term terminal.Output, text string) *firstSign {
	s := &firstSign{Writer: w}
	if term.Motion {
		s.stands.Store(true)
		_, _ = io.WriteString(w, "\r"+text+"\x1b[K") // it is not worth failing for
	}
	return s
}

// Write takes the line back before the first text.
func (s *firstSign) Write(p []byte) (int, error) {
	s.clear()
	return s.Writer.Write(p)
}

// clear takes the line back.
func (s *firstSign) clear() {
	if s.stands.CompareAndSwap(true, false) {
		_, _ = io.WriteString(s.Writer, "\r\x1b[K")
	}
}

// Fd lets terminal detection see through. No file: no such number.
func (s *firstSign) Fd() uintptr { return cmdline.FdOf(s.Writer) }

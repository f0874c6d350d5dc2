package wire

import (
	"bytes"

	"agentswarm/swarm/event"
	"agentswarm/swarm/thought"
)

const (
	// headSize is how much of a line tells whether it is passed over.
	headSize = 128
	// tailSize is how much is kept of the end of a line that is too long.
	tailSize = 32
	// MaxLine bounds a line that is read. The longest hold the input or the
	// result of a tool. Agents that repeat whole conversations in a line do so
	// in lines that can be passed over.
	MaxLine = 2 << 20
	// Shown is how much of a line that is too long is kept of its beginning.
	Shown = 1024
	// kept is the largest buffer that is kept for the next line.
	kept = 64 << 10
)

// fate says how a line is treated.
type fate int

const (
	unknown fate = iota // too little of it is there
	taken               // all of it is read
	passed              // it says nothing that another does not
)

// Lines are the lines of a stream that comes in pieces, cut anywhere.
type Lines struct {
	// Pass reports, by the first 128 bytes of a line or all of a shorter line,
	// whether other lines have all of its information. Nil: every line counts.
	Pass func(head []byte) bool
	// Read takes a line, without its end, and keeps nothing of it. Required.
	Read func(line []byte) []event.Event
	// Cut takes the beginning and the end of a line over [MaxLine]. Required.
	Cut func(head, tail []byte) []event.Event

	line []byte // the present part of a line that is taken, or whose fate is unknown
	fate fate
	long bool   // it is over MaxLine: line is its head, and tail its end
	tail []byte // of a long line
}

// Feed takes the next bytes.
func (s *Lines) Feed(p []byte) []event.Event {
	var found []event.Event
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte{'\n'})
		if ended && s.fate == unknown && len(s.line) == 0 && len(head) <= MaxLine {
			// The whole line is there: it is not copied.
			found = append(found, s.read(head)...)
			p = rest
			continue
		}
		s.keep(head)
		if ended {
			found = append(found, s.End()...)
		}
		p = rest
	}
	return found
}

// read reads a whole line, unless it is blank or passed over.
func (s *Lines) read(line []byte) []event.Event {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(bytes.TrimSpace(line)) == 0 || s.passes(line) {
		return nil
	}
	return s.Read(line)
}

func (s *Lines) passes(line []byte) bool {
	return s.Pass != nil && s.Pass(line[:min(len(line), headSize)])
}

// keep adds to the line that is begun.
func (s *Lines) keep(more []byte) {
	if s.fate == unknown {
		room := min(headSize-len(s.line), len(more))
		s.line = append(s.line, more[:room]...)
		more = more[room:]
		if len(s.line) < headSize {
			return
		}
		s.fate = taken
		if s.passes(s.line) {
			s.fate, s.line = passed, s.line[:0]
		}
	}
	switch {
	case s.fate == passed:
	case s.long:
		s.end(more)
	default:
		room := min(MaxLine-len(s.line), len(more))
		s.line = append(s.line, more[:room]...)
		if more = more[room:]; len(more) > 0 {
			s.long = true
			s.tail = bytes.Clone(s.line[len(s.line)-tailSize:])
			s.line = bytes.Clone(s.line[:Shown])
			s.end(more)
		}
	}
}

// end keeps the last bytes of a long line.
func (s *Lines) end(more []byte) {
	s.tail = append(s.tail, more[max(0, len(more)-tailSize):]...)
	s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-tailSize):]...)
}

// End reads the present part as a line: there is no more.
func (s *Lines) End() []event.Event {
	line, tail, long, was := s.line, s.tail, s.long, s.fate
	s.fate, s.long, s.tail = unknown, false, nil
	if s.line = s.line[:0]; cap(line) > kept {
		s.line = nil
	}
	switch {
	case was == passed:
		return nil
	case long:
		return s.Cut(Unthought(line), tail)
	default:
		return s.read(line)
	}
}

// Unthought is the beginning of a line that is not read, as it is too long or
// was cut off. It ends before a model's thoughts, which are never shown.
func Unthought(head []byte) []byte {
	for _, mark := range append(thought.Begins(),
		`"type":"thinking`, `"type":"redacted_thinking`, `"thinking":"`, `"type":"reasoning`, `"type":"thought"`, `"thought":true`, `"reasoningText":"`,
	) {
		if at := bytes.Index(head, []byte(mark)); at >= 0 {
			head = head[:at]
		}
	}
	return head
}

// Release forgets the line that is begun, if it is longer than most, and
// returns how many bytes of it must be fed again.
func (s *Lines) Release(most int) (back int) {
	if s.long || len(s.line) <= most {
		return 0
	}
	back = len(s.line)
	s.line, s.fate = nil, unknown
	return back
}

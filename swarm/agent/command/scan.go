package command

import (
	"encoding/binary"
	"math/bits"
)

// members are the raw parts of a line that make its event. An absent member is
// nil.
type members struct {
	kind, id, name, text, input, ok, output []byte

	n, cacheRead, cacheWrite, costUSD []byte
}

// place returns the place of a member of this name. It knows only names that
// encoding/json takes in one spelling: encoding/json also takes others, without
// regard to case.
func (m *members) place(name []byte) (place *[]byte, known bool) {
	switch string(name) {
	case "type":
		return &m.kind, true
	case "id":
		return &m.id, true
	case "name":
		return &m.name, true
	case "text":
		return &m.text, true
	case "input":
		return &m.input, true
	case "ok":
		return &m.ok, true
	case "output":
		return &m.output, true
	case "n":
		return &m.n, true
	case "cache_read":
		return &m.cacheRead, true
	case "cache_write":
		return &m.cacheWrite, true
	case "cost_usd":
		return &m.costUSD, true
	case "protocol", "model", "can", "action", "structured", "kind", "message", "retry_after_ms", "requests_left",
		"quota", "window", "title", "percent", "resets_at":
		return nil, false
	}
	for _, b := range name {
		if b >= 0x80 || b == '\\' || b >= 'A' && b <= 'Z' {
			return nil, false
		}
	}
	return nil, true
}

// scanner goes through a line of JSON once. It rejects lines that it does not
// know well, though they may be valid: encoding/json reads those.
type scanner struct {
	line []byte
	at   int
}

// deepest is how many objects and lists may stand within each other.
const deepest = 100

// object reads all of the line as a single object of valid JSON, and finds its
// members.
func (s *scanner) object() (m members, ok bool) {
	s.blank()
	if !s.take('{') {
		return m, false
	}
	if s.blank(); !s.take('}') {
		for more := true; more; more = s.take(',') {
			if !s.member(&m) {
				return m, false
			}
		}
		if !s.take('}') {
			return m, false
		}
	}
	s.blank()
	return m, s.at == len(s.line)
}

// member reads a name and its value, and the blanks around them.
func (s *scanner) member(m *members) bool {
	s.blank()
	begin := s.at
	if !s.text() {
		return false
	}
	place, known := m.place(s.line[begin+1 : s.at-1])
	if s.blank(); !known || !s.take(':') {
		return false
	}
	s.blank()
	begin = s.at
	if !s.value(deepest) {
		return false
	}
	if place != nil {
		if *place != nil {
			return false // the last of several counts
		}
		*place = s.line[begin:s.at]
	}
	s.blank()
	return true
}

// value reads any value with at most so many levels in it.
func (s *scanner) value(levels int) bool {
	if levels == 0 || s.at == len(s.line) {
		return false
	}
	switch s.line[s.at] {
	case '"':
		return s.text()
	case '{':
		return s.list('}', levels)
	case '[':
		return s.list(']', levels)
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// list reads an object or a list, which ends with the given letter.
func (s *scanner) list(end byte, levels int) bool {
	s.at++
	if s.blank(); s.take(end) {
		return true
	}
	for more := true; more; more = s.take(',') {
		s.blank()
		if end == '}' {
			if !s.text() {
				return false
			}
			if s.blank(); !s.take(':') {
				return false
			}
			s.blank()
		}
		if !s.value(levels - 1) {
			return false
		}
		s.blank()
	}
	return s.take(end)
}

// text reads a string.
func (s *scanner) text() bool {
	if !s.take('"') {
		return false
	}
	line := s.line
	for at := s.at; ; at++ {
		at += plain(line[at:])
		switch {
		case at == len(line):
			return false
		case line[at] == '"':
			s.at = at + 1
			return true
		case line[at] != '\\' || at+1 == len(line):
			return false // it does not end, or holds a control character
		}
		at++
		switch line[at] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			if len(line)-at <= 4 || !isHex(line[at+1:at+5]) {
				return false
			}
			at += 4
		default:
			return false
		}
	}
}

// plain returns the number of bytes before a quote, a backslash, a control
// character or the end. It looks at eight bytes at once: most of the output of
// agents is in strings.
func plain(b []byte) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		quote, slash := x^('"'*ones), x^('\\'*ones)
		// The top bit of the lowest byte that is found is right; those above
		// it may be set by a borrow.
		found := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ' '*ones) &^ x)
		if found &= tops; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= ' ' {
		n++
	}
	return n
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// number reads a number as JSON spells it.
func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

// digits reads at least one digit.
func (s *scanner) digits() bool {
	begin := s.at
	for s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		s.at++
	}
	return s.at > begin
}

func (s *scanner) word(w string) bool {
	if len(s.line)-s.at < len(w) || string(s.line[s.at:s.at+len(w)]) != w {
		return false
	}
	s.at += len(w)
	return true
}

// take passes a letter over if it is the next.
func (s *scanner) take(b byte) bool {
	if s.at == len(s.line) || s.line[s.at] != b {
		return false
	}
	s.at++
	return true
}

func (s *scanner) blank() {
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

package command

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// quick reads the most frequent lines of agents in a single pass; nil for any
// other. It returns the event that [slow] returns, but where keep is false:
// then it leaves out the input and output of tools, and the text of unknown
// events.
func quick(line []byte, keep bool) event.Event {
	if !utf8.Valid(line) {
		return nil
	}
	s := scanner{line: line}
	m, ok := s.object()
	if !ok || !m.typical() {
		return nil
	}
	kind := ""
	if m.kind != nil {
		kind = string(m.kind[1 : len(m.kind)-1])
	}
	if !keep && kind != "usage" {
		m.input, m.output = nil, nil
	}
	switch kind {
	case "session", "ask", "result", "error", "retry":
		return nil
	case "text":
		return &event.Text{Text: unquoted(m.text)}
	case "tool_start":
		return &event.ToolStart{ID: unquoted(m.id), Name: unquoted(m.name), Input: bytes.Clone(m.input)}
	case "tool_end":
		return &event.ToolEnd{ID: unquoted(m.id), OK: string(m.ok) == "true", Output: bytes.Clone(m.output)}
	case "turn":
		return m.turn()
	case "usage":
		return m.spent()
	default:
		if !keep {
			return &event.Raw{}
		}
		return &event.Raw{Line: bytes.Clone(line)}
	}
}

// typical reports whether each member is of the type it has in the protocol.
// encoding/json decides about a line with another type.
func (m *members) typical() bool {
	for _, text := range [][]byte{m.kind, m.id, m.name, m.text} {
		if text != nil && text[0] != '"' {
			return false
		}
	}
	if m.ok != nil && m.ok[0] != 't' && m.ok[0] != 'f' || bytes.IndexByte(m.kind, '\\') >= 0 {
		return false
	}
	for _, n := range [][]byte{m.n, m.cacheRead, m.cacheWrite} {
		if _, ok := count(n); !ok {
			return false
		}
	}
	_, ok := m.cost()
	return ok
}

// turn is the event of a turn.
func (m *members) turn() event.Event {
	n, _ := count(m.n) // typical has looked
	return &event.Turn{N: int(n)}
}

// spent is the event of a usage; nil where it holds something odd.
func (m *members) spent() event.Event {
	var counts [4]int64
	for i, text := range [][]byte{m.input, m.output, m.cacheRead, m.cacheWrite} {
		n, ok := count(text)
		if !ok || n < 0 {
			return nil
		}
		counts[i] = n
	}
	cost, _ := m.cost() // typical has looked
	if cost < 0 {
		return nil
	}
	return &event.Spent{Usage: task.Usage{
		Input: counts[0], Output: counts[1], CacheRead: counts[2], CacheWrite: counts[3], CostUSD: cost,
	}}
}

func (m *members) cost() (usd float64, ok bool) {
	if m.costUSD == nil {
		return 0, true
	}
	usd, err := strconv.ParseFloat(string(m.costUSD), 64)
	return usd, err == nil
}

// count returns a number without a fraction; 0 for an absent number.
func count(text []byte) (n int64, ok bool) {
	if text == nil {
		return 0, true
	}
	n, err := strconv.ParseInt(string(text), 10, strconv.IntSize)
	return n, err == nil
}

// unquoted returns the text of a string of valid JSON; empty for an absent
// string.
func unquoted(raw []byte) string {
	if raw == nil {
		return ""
	}
	raw = raw[1 : len(raw)-1]
	next := bytes.IndexByte(raw, '\\')
	if next < 0 {
		return string(raw)
	}
	text := make([]byte, 0, len(raw))
	for ; next >= 0; next = bytes.IndexByte(raw, '\\') {
		text = append(text, raw[:next]...)
		letter := raw[next+1]
		raw = raw[next+2:]
		if letter == 'u' {
			var r rune
			r, raw = escaped(raw)
			text = utf8.AppendRune(text, r)
			continue
		}
		text = append(text, meant(letter))
	}
	return string(append(text, raw...))
}

// meant returns the character of an escape of a backslash and a letter.
func meant(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return letter
	}
}

// escaped returns the rune whose four digits come next, and the text after it.
// Two surrogate halves make a rune; a single half is U+FFFD.
func escaped(raw []byte) (r rune, rest []byte) {
	r, rest = hex4(raw), raw[4:]
	if !utf16.IsSurrogate(r) {
		return r, rest
	}
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if both := utf16.DecodeRune(r, hex4(rest[2:])); both != utf8.RuneError {
			return both, rest[6:]
		}
	}
	return utf8.RuneError, rest
}

// hex4 is the number of four digits, which the scanner has looked at.
func hex4(raw []byte) rune {
	n, _ := strconv.ParseUint(string(raw[:4]), 16, 32)
	return rune(n)
}

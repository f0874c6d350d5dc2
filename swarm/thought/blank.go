package thought

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Span is a part of a text, in bytes: from the first to before the second.
type Span struct{ From, To int64 }

// How much is kept in mind of a line: of what nests deeper, or has more texts,
// the rest is left as it is.
const (
	maxDepth = 512
	maxSpans = 1 << 20
	maxHead  = 64 // of a text: more than any key and any mark has
)

// Spans finds, in lines of JSON as programs print them, what a model thought:
// all texts of an object whose type or method calls it so, but for what names
// things, and what stands between marks at the beginning of any text. Each is
// inside of a string, so that blanks in its place leave the JSON what it was.
// What a tool was given is left out, whatever it holds.
func Spans(r io.Reader, found func(Span) error) error {
	s := scanner{found: found}
	in := bufio.NewReaderSize(r, 64<<10)
	for at := int64(0); ; at++ {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			if s.text.open { // it was cut off
				s.close(at)
			}
			s.line()
			return s.err
		}
		if err == nil {
			s.take(b, at)
			err = s.err
		}
		if err != nil {
			return err
		}
	}
}

// scanner reads JSON, and what is none as far as it looks alike. Its memory does
// not grow with the length of a text.
type scanner struct {
	found func(Span) error
	err   error
	nests []nest
	spans []Span // texts of what is open
	text  literal
	lost  bool // until the end of the line
}

// nest is an object or a list that is open.
type nest struct {
	first   int // of its spans
	object  bool
	value   bool   // what comes is the value of the key
	key     string // the latest one
	thought bool
	given   bool // to a tool
}

// literal is a string that is open, or was last.
type literal struct {
	open, escaped bool
	from          int64
	head          []byte
	tail          []byte // as long as the longest mark
	mark          mark   // that has begun
	began         int64
	plain         bool // it begins with no mark
}

func (s *scanner) take(b byte, at int64) {
	switch {
	case b == '\n':
		if s.text.open {
			s.close(at)
		}
		s.line()
	case s.lost:
	case s.text.open:
		s.within(b, at)
	case b == '"':
		s.text = literal{open: true, from: at + 1, head: s.text.head[:0], tail: s.text.tail[:0]}
	case b == '{', b == '[':
		s.open(b == '{')
	case b == '}', b == ']':
		s.end()
	case b == ':' || b == ',':
		if n := s.top(); n != nil && n.object {
			n.value = b == ':'
		}
	case b == 't':
		if n := s.top(); n != nil && n.value && n.key == "thought" {
			n.thought = true // true
		}
	}
}

// line forgets a line. What it left open was cut off.
func (s *scanner) line() {
	for len(s.nests) > 0 {
		s.end()
	}
	s.spans, s.text, s.lost = s.spans[:0], literal{head: s.text.head, tail: s.text.tail}, false
}

func (s *scanner) top() *nest {
	if len(s.nests) == 0 {
		return nil
	}
	return &s.nests[len(s.nests)-1]
}

func (s *scanner) open(object bool) {
	n := nest{first: len(s.spans), object: object}
	if over := s.top(); over != nil {
		n.given = over.given || over.object && (over.key == "input" || over.key == "arguments" || over.key == "args")
		if !object {
			n.key = over.key
		}
	}
	if s.nests = append(s.nests, n); len(s.nests) > maxDepth {
		s.lost = true
	}
}

func (s *scanner) end() {
	n := s.top()
	if n == nil {
		return
	}
	if n.thought {
		for _, span := range s.spans[n.first:] {
			s.blank(span)
		}
		s.spans = s.spans[:n.first]
	}
	s.nests = s.nests[:len(s.nests)-1]
}

// within takes a byte of a string.
func (s *scanner) within(b byte, at int64) {
	t := &s.text
	if b == '"' && !t.escaped {
		s.close(at)
		return
	}
	t.escaped = b == '\\' && !t.escaped
	if len(t.head) < maxHead {
		t.head = append(t.head, b)
	}
	if t.plain {
		return
	}
	if t.mark.end == "" {
		begin, may := beginning(unescaped(string(t.head)), marks())
		switch {
		case begin.begin != "":
			t.mark, t.began = begin, at+1
		case !may || len(t.head) == maxHead:
			t.plain = true
		}
		return
	}
	if len(t.tail) == len(t.mark.end) {
		t.tail = append(t.tail[:0], t.tail[1:]...)
	}
	if t.tail = append(t.tail, b); string(t.tail) == t.mark.end {
		s.thoughtUntil(at + 1 - int64(len(t.mark.end)))
		t.plain = true
	}
}

// unescaped is the beginning of a string without the blanks it begins with.
func unescaped(head string) string {
	for {
		rest := strings.TrimLeft(head, " ")
		for _, blank := range []string{`\n`, `\r`, `\t`} {
			rest = strings.TrimPrefix(rest, blank)
		}
		if rest == `\` { // half of one
			return ""
		}
		if rest == head {
			return head
		}
		head = rest
	}
}

// thoughtUntil finds what a mark began in the string that is open.
func (s *scanner) thoughtUntil(end int64) {
	if n := s.top(); n != nil && (n.given || n.object && !n.value) {
		return
	}
	s.blank(Span{s.text.began, end})
}

// close ends a string, or what is there of one.
func (s *scanner) close(at int64) {
	t, n := &s.text, s.top()
	t.open = false
	if t.mark.end != "" && !t.plain {
		s.thoughtUntil(at)
	}
	switch {
	case n == nil:
	case n.object && !n.value:
		n.key = string(t.head)
	case n.object && (n.key == "type" || n.key == "method"):
		n.thought = n.thought || !n.given && thinks(string(t.head))
	case n.given || names(n.key):
	case len(s.spans) == maxSpans:
		s.lost = true
	default:
		s.spans = append(s.spans, Span{t.from, at})
	}
}

func (s *scanner) blank(span Span) {
	if s.err == nil && span.From < span.To {
		s.err = s.found(span)
	}
}

// thinks reports whether what is of a type is a thought.
func thinks(kind string) bool {
	kind = strings.ToLower(kind)
	return kind == "thought" || strings.Contains(kind, "thinking") || strings.Contains(kind, "reasoning")
}

// names reports whether the texts of a key say which thing it is, and not what
// is in it.
func names(key string) bool {
	switch key {
	case "type", "method", "id", "role", "name", "model", "status":
		return true
	}
	return strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") || strings.HasSuffix(key, "_id")
}

package thought

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
)

// Span is a part of a text, in bytes: from the first to before the second.
type Span struct{ From, To int64 }

// Limits of the memory for a line. Deeper nests and further texts are left as
// they are.
const (
	maxDepth = 512
	maxSpans = 1 << 20
	maxHead  = 64 // of a text: more than any key and any mark has
)

// Spans finds, in lines of JSON as programs print them, the thoughts of a
// model. These are all texts of an object whose type or method names a thought,
// except names of things, and the parts that [Cut] leaves out of any text,
// whole or in pieces. Each span is inside of a string, so that blanks in its
// place leave valid JSON. The parts that Cut removes stay the same with or
// without the blanks. The input of a tool and an answer to a schema are left
// out, whatever they hold. The spans have no order. Spans returns the errors of
// r and of found.
func Spans(r io.Reader, found func(Span) error) error {
	s := scanner{found: found}
	in := bufio.NewReaderSize(r, 64<<10)
	for at := int64(0); ; at++ {
		b, err := in.ReadByte()
		if errors.Is(err, io.EOF) {
			s.finish(at)
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

// scanner reads JSON, and text that looks like JSON. Its memory does not grow
// with the length of a text, except with that of a piece of a text.
type scanner struct {
	found  func(Span) error
	err    error
	nests  []nest
	spans  []Span // texts of the open nests
	cuts   []cut  // their thoughts
	text   literal
	line   line
	pieces pieces
	lost   bool // until the end of the line
}

// nest is an object or a list that is open.
type nest struct {
	first   int // of its spans
	cuts    int // that were found before it
	from    int64
	object  bool
	value   bool   // the value of the key follows
	key     string // the latest key
	thought bool
	given   bool // to a tool, or as an answer
	foreign bool // not text of a model
}

// literal is a string that is open, or was last.
type literal struct {
	open    bool
	from    int64
	head    []byte
	letters letters
	finder  finder
	path    string // where it is the piece of a text; empty: nowhere
}

func (s *scanner) take(b byte, at int64) {
	switch {
	case b == '\n':
		s.end(at)
	case s.lost:
	case s.text.open:
		s.within(b, at)
	case b == '"':
		s.begin(at + 1)
	case b == '{', b == '[':
		s.open(b == '{', at)
	case b == '}', b == ']':
		s.close()
	case b == ':' || b == ',':
		if n := s.top(); n != nil && n.object {
			n.value = b == ':'
		}
	case b == 't':
		if n := s.top(); n != nil && n.value && n.key == "thought" {
			n.thought = n.thought || !n.given // true
		}
	}
}

// end ends a line. Nests that are still open were cut off.
func (s *scanner) end(at int64) {
	if s.text.open {
		s.ended(at)
	}
	for len(s.nests) > 0 {
		s.close()
	}
	s.cuts = append(s.cuts, s.pieces.take(&s.line, s.blank)...)
	for _, c := range s.cuts {
		s.blank(c.Span)
	}
	s.spans, s.cuts, s.lost = s.spans[:0], s.cuts[:0], false
	s.line = line{raw: s.line.raw[:0]}
}

// finish ends the text.
func (s *scanner) finish(at int64) {
	s.end(at)
	s.pieces.end(s.blank)
}

func (s *scanner) top() *nest {
	if len(s.nests) == 0 {
		return nil
	}
	return &s.nests[len(s.nests)-1]
}

func (s *scanner) open(object bool, at int64) {
	n := nest{first: len(s.spans), cuts: len(s.cuts), from: at, object: object}
	if over := s.top(); over != nil {
		n.given = over.given || over.object && given(over.key)
		if !object {
			n.key = over.key
		}
	}
	if s.nests = append(s.nests, n); len(s.nests) > maxDepth {
		s.lost = true
	}
}

// close ends an object or a list. All that it says is known by now.
func (s *scanner) close() {
	n := s.top()
	switch {
	case n == nil:
		return
	case n.thought:
		for _, span := range s.spans[n.first:] {
			s.blank(span)
		}
		s.spans = s.spans[:n.first]
		if s.line.piece.From > n.from { // nothing is said by it
			s.line.piece = Span{}
		}
	case n.foreign:
		s.cuts = append(s.cuts[:n.cuts], slices.DeleteFunc(s.cuts[n.cuts:], unbegun)...)
		if s.line.piece.From > n.from {
			s.line.own = slices.DeleteFunc(s.line.own, unbegun)
		}
	}
	s.nests = s.nests[:len(s.nests)-1]
}

// begin begins a string.
func (s *scanner) begin(from int64) {
	s.text = literal{open: true, from: from, head: s.text.head[:0]}
	n := s.top()
	if n == nil || n.given || n.object && (!n.value || given(n.key)) {
		s.text.finder.stage = saying
		return
	}
	s.text.finder.after = !says(n.key) // only a mark begins a thought there
	if n.object {
		s.text.path = s.piecePath()
	}
}

// within takes a byte of a string.
func (s *scanner) within(b byte, at int64) {
	t := &s.text
	if b == '"' && !t.letters.escaped {
		s.ended(at)
		return
	}
	if len(t.head) < maxHead {
		t.head = append(t.head, b)
	}
	if t.path != "" {
		s.line.keep(b)
	}
	if c, from, whole := t.letters.next(b, at); whole && t.finder.stage != saying {
		t.finder.take(c, from, at+1)
	}
}

// ended ends a string, or the rest of a cut string.
func (s *scanner) ended(at int64) {
	t, n := &s.text, s.top()
	t.open = false
	switch {
	case n == nil:
		return
	case n.object && !n.value:
		n.key = string(t.head)
		return
	case n.object:
		s.note(string(t.head))
	}
	if n.given || names(n.key) {
		return
	}
	if len(s.spans) == maxSpans || len(s.cuts) == maxSpans {
		s.lost = true
		return
	}
	text := Span{t.from, at}
	if n.key == "reasoningText" { // a thought beside the words of the same message
		s.cuts = append(s.cuts, cut{Span: text})
		return
	}
	s.spans = append(s.spans, text)
	t.finder.end()
	for i := range t.finder.found {
		t.finder.found[i].To = min(t.finder.found[i].To, at)
		t.finder.found[i].From = max(t.finder.found[i].From, t.from)
	}
	if t.path == "" {
		s.cuts = append(s.cuts, t.finder.found...)
		return
	}
	s.cuts = append(s.cuts, s.line.own...) // of the same path: only the last of them counts
	s.line.piece, s.line.path, s.line.own = text, t.path, t.finder.found
}

func unbegun(c cut) bool { return c.unbegun }

// note takes the facts that a string gives about its object, and about the
// line.
func (s *scanner) note(value string) {
	n := s.top()
	switch n.key {
	case "type", "method":
		n.thought = n.thought || !n.given && thinks(value)
		n.foreign = n.foreign || n.key == "type" && (strings.Contains(strings.ToLower(value), "tool") || value == "userMessage")
	case "role":
		n.foreign = n.foreign || value != "assistant"
	case "itemId", "id", "messageId", "parent_tool_use_id":
	default:
		return
	}
	if !n.given {
		s.line.note(s.path(), value)
	}
}

// path is the path of a key's value in the line, if it is no deeper than any
// path of a piece; empty: it is deeper.
func (s *scanner) path() string {
	if len(s.nests) > 3 {
		return ""
	}
	keys := make([]string, len(s.nests))
	for i := range s.nests {
		keys[i] = s.nests[i].key
	}
	return strings.Join(keys, ".")
}

// piecePath is the path, where the pieces of a text stand by it.
func (s *scanner) piecePath() string {
	switch s.top().key {
	case "content", "delta", "deltaContent", "text":
		if path := s.path(); carries(path) {
			s.line.raw, s.line.long = s.line.raw[:0], false
			return path
		}
	}
	return ""
}

func (s *scanner) blank(span Span) {
	if s.err == nil && span.From < span.To {
		s.err = s.found(span)
	}
}

// thinks reports whether texts of a type are thoughts.
func thinks(kind string) bool {
	kind = strings.ToLower(kind)
	return kind == "thought" || strings.Contains(kind, "thinking") || strings.Contains(kind, "reasoning")
}

// given reports whether a key holds the input of a tool, or an answer to a
// schema: text of the model in a requested form.
func given(key string) bool {
	switch key {
	case "input", "arguments", "args", "parameters", "partial_json", "action", "structured_output", "structured_result", "structured":
		return true
	}
	return false
}

// says reports whether a key holds text of a model, and not, say, the output of
// a tool.
func says(key string) bool {
	return key == "text" || key == "content" || key == "deltaContent" || key == "result"
}

// names reports whether the texts of a key identify a thing, and are not its
// content.
func names(key string) bool {
	switch key {
	case "type", "method", "id", "role", "name", "model", "status":
		return true
	}
	return strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") || strings.HasSuffix(key, "_id")
}

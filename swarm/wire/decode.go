package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/event"
)

// Decode reads a line of JSON as far as it has the expected shape, and reports
// whether it is JSON at all. An odd number must not cost the rest of the line.
func Decode(text []byte, into any) bool {
	err := json.Unmarshal(text, into)
	if err == nil {
		return true
	}
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	return shape
}

// Flag is a yes or no, and anything but a plain no is a yes. An unknown form of
// an error flag must not read as success.
type Flag bool

// UnmarshalJSON takes any value.
func (f *Flag) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	*f = Flag(string(text) != "false" && string(text) != "null")
	return nil
}

// Foreign is a line that does not belong to a stream: a wrapper's output, or an
// addition of a later version. Brief readers get no JSON.
func Foreign(line []byte, brief bool) []event.Event {
	if !json.Valid(line) {
		if bytes.HasPrefix(line, []byte{'{'}) { // it was cut off
			line = Unthought(line)
		}
		return []event.Event{&event.Text{Text: Valid(line)}}
	}
	if brief {
		return []event.Event{&event.Raw{}}
	}
	return []event.Event{&event.Raw{Line: Copy(line)}}
}

// Cut is the event of a line that is too long to be read.
func Cut(head, _ []byte) []event.Event {
	return []event.Event{&event.Text{Text: Valid(head) + " … (line too long)"}}
}

// Valid is a copy with a mark in place of invalid UTF-8.
func Valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// Copy is a copy of JSON, valid as text too; nil of nothing.
func Copy(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if utf8.Valid(text) {
		return bytes.Clone(text)
	}
	return json.RawMessage(Valid(text))
}

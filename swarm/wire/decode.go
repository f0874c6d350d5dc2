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
// whether it is JSON at all: one odd number must not cost what else it says.
func Decode(text []byte, into any) bool {
	err := json.Unmarshal(text, into)
	if err == nil {
		return true
	}
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	return shape
}

// Flag is a yes or no of which anything but a plain no is a yes: what says in
// an unknown way that something went wrong must not read as if it had not.
type Flag bool

// UnmarshalJSON takes any value.
func (f *Flag) UnmarshalJSON(text []byte) error {
	text = bytes.TrimSpace(text)
	*f = Flag(string(text) != "false" && string(text) != "null")
	return nil
}

// Foreign is a line that is none of a stream's: what a wrapper prints, or what
// a later version adds. Of JSON nothing is kept for whoever is brief.
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

// Cut is what becomes of a line that is too long to be read.
func Cut(head, _ []byte) []event.Event {
	return []event.Event{&event.Text{Text: Valid(head) + " … (line too long)"}}
}

// Valid is a copy with a mark in place of what is not UTF-8.
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

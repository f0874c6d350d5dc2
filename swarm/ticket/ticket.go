package ticket

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a list of tickets.
const (
	MaxTickets = 100_000
	MaxList    = 64 << 20 // bytes of the whole list
	MaxTicket  = 1 << 20  // bytes of a ticket as JSON, and of a filled prompt
)

// Ticket is an object of a list.
type Ticket struct {
	// Line is where it begins in the list, from 1.
	Line int
	// Fields is the ticket as a JSON object on a single line.
	Fields json.RawMessage
	// Names are the texts that can be its id, the best first. The last is made
	// of its place in the list, and is never empty.
	Names []string
}

// Format is how a list of tickets is written. The zero value is refused.
type Format uint8

// The formats.
const (
	FormatUnset Format = iota
	FormatJSON         // objects, and arrays of objects, one after the other
	FormatCSV          // a header, and a row for each ticket
)

// FileFormat is the format of a file by its name: FormatCSV for .csv, FormatJSON
// for .json, .jsonl and .ndjson, else FormatUnset.
func FileFormat(name string) Format {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv":
		return FormatCSV
	case ".json", ".jsonl", ".ndjson":
		return FormatJSON
	default:
		return FormatUnset
	}
}

// Request is a list of tickets as it was given.
type Request struct {
	Source string // required: the name of the list in messages, safe to print
	Format Format // required
	Text   []byte
}

// Error is a fault of a list, of a ticket or of a template.
type Error struct {
	Source string // empty: the template
	Line   int    // from 1; 0: the list as a whole
	Item   string // the id of the ticket; empty where it is not known
	Reason string
	Tip    string
}

// Error is a single line: the place, the ticket, the reason.
func (e *Error) Error() string {
	var parts []string
	if at := e.Source; at != "" {
		if e.Line > 0 {
			at += ":" + strconv.Itoa(e.Line)
		}
		parts = append(parts, at)
	}
	if e.Item != "" {
		parts = append(parts, "ticket "+e.Item)
	}
	return strings.Join(append(parts, e.Reason), ": ")
}

// Hint says how to mend it; it may be empty.
func (e *Error) Hint() string { return e.Tip }

func (r *Request) wrong(line int, format string, args ...any) *Error {
	return &Error{Source: r.Source, Line: line, Reason: fmt.Sprintf(format, args...)}
}

// Read reads a list of tickets. An error is an [*Error].
func Read(r Request) ([]Ticket, error) {
	if len(r.Text) > MaxList {
		return nil, r.wrong(0, "is longer than %d MiB", MaxList>>20)
	}
	r.Text = bytes.TrimPrefix(r.Text, []byte("\ufeff"))
	if err := r.checkText(); err != nil {
		return nil, err
	}
	var tickets []Ticket
	add := func(line int, kind string, fields json.RawMessage) *Error {
		switch {
		case len(tickets) == MaxTickets:
			return r.wrong(line, "the list has more than %d tickets", MaxTickets)
		case len(fields) > MaxTicket:
			return r.wrong(line, "the ticket is longer than %d MiB", MaxTicket>>20)
		}
		tickets = append(tickets, Ticket{Line: line, Fields: fields, Names: names(fields, kind)})
		return nil
	}
	var err *Error
	switch r.Format {
	case FormatJSON:
		err = r.readJSON(add)
	case FormatCSV:
		err = r.readCSV(add)
	default:
		err = r.wrong(0, "is not a list of tickets")
		err.Tip = "a list of tickets is a file NAME.json, NAME.jsonl or NAME.csv, or - for standard input"
	}
	if err == nil && len(tickets) == 0 {
		err = r.wrong(0, "has no ticket")
	}
	if err != nil { // a nil *Error in an error would not be nil
		return nil, err
	}
	return tickets, nil
}

// checkText refuses bytes that no list may have.
func (r *Request) checkText() *Error {
	line := 0
	for text := range bytes.Lines(r.Text) {
		line++
		switch {
		case bytes.IndexByte(text, 0) >= 0:
			return r.wrong(line, "has a NUL byte")
		case !utf8.Valid(text):
			return r.wrong(line, "is not valid UTF-8")
		}
	}
	return nil
}

// idFields are the fields that can hold the id of a ticket, the best first.
func idFields() []string { return []string{"id", "key", "number"} }

// names are the texts that can be the id of a ticket. The case of the field's
// name does not matter: exports have "ID" and "Key".
func names(fields json.RawMessage, place string) []string {
	all := decode(fields)
	var found []string
	for _, want := range idFields() {
		value, ok := all[want]
		if !ok {
			value = foldedField(all, want)
		}
		switch v := value.(type) {
		case string:
			if v = strings.TrimSpace(v); v != "" {
				found = append(found, v)
			}
		case json.Number:
			found = append(found, v.String())
		}
	}
	return append(found, place)
}

// foldedField is the value of the field whose name differs from want only in
// case; nil if there is none, or several.
func foldedField(all map[string]any, want string) any {
	var found any
	n := 0
	for name, value := range all {
		if strings.EqualFold(strings.TrimSpace(name), want) {
			found = value
			n++
		}
	}
	if n != 1 {
		return nil
	}
	return found
}

// decode is a JSON object as a map. A number keeps its digits.
func decode(fields json.RawMessage) map[string]any {
	d := json.NewDecoder(bytes.NewReader(fields))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil {
		return nil
	}
	return all
}

package ticket

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// adder takes a ticket: its line, its id where it has no other, its fields.
type adder func(line int, place string, fields json.RawMessage) *Error

// readJSON reads objects and arrays of objects that follow each other: a JSON
// array, JSONL, the pages of an API, and objects over several lines.
func (r *Request) readJSON(add adder) *Error {
	d := json.NewDecoder(bytes.NewReader(r.Text))
	lines := lineCounter{text: r.Text}
	items := 0
	inArray := false
	for {
		if inArray && !d.More() {
			if _, err := d.Token(); err != nil {
				return r.invalid(&lines, d, err)
			}
			inArray = false
			continue
		}
		line, first := lines.next(int(d.InputOffset()))
		if !inArray && first == '[' {
			if _, err := d.Token(); err != nil {
				return r.invalid(&lines, d, err)
			}
			inArray = true
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); errors.Is(err, io.EOF) && !inArray {
			return nil
		} else if err != nil {
			return r.invalid(&lines, d, err)
		}
		if value[0] != '{' {
			err := r.wrong(line, "expected an object, got %s", clipped(string(value)))
			err.Tip = "a list of tickets is a JSON array of objects, or an object a line; --csv reads CSV with a header"
			return err
		}
		items++
		place := "line-" + strconv.Itoa(line)
		if inArray {
			place = "item-" + strconv.Itoa(items)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, value); err != nil {
			return r.wrong(line, "is not valid JSON: %v", err)
		}
		if err := add(line, place, compact.Bytes()); err != nil {
			return err
		}
	}
}

func (r *Request) invalid(lines *lineCounter, d *json.Decoder, err error) *Error {
	at := int(d.InputOffset())
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = max(at, int(syntax.Offset)-1)
	}
	var wrong *Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		wrong = r.wrong(lines.at(len(r.Text)), "is not valid JSON: the text ends too early")
	} else {
		wrong = r.wrong(lines.at(at), "is not valid JSON: %v", err)
	}
	wrong.Tip = "--csv reads CSV with a header"
	return wrong
}

// lineCounter finds the lines of offsets that grow.
type lineCounter struct {
	text []byte
	off  int
	line int // of off, from 0
}

// at is the line of an offset, from 1.
func (c *lineCounter) at(off int) int {
	off = min(max(off, c.off), len(c.text))
	c.line += bytes.Count(c.text[c.off:off], []byte("\n"))
	c.off = off
	return c.line + 1
}

// next is the line and the first byte of the value that follows an offset. The
// byte is 0 at the end.
func (c *lineCounter) next(off int) (line int, first byte) {
	for off < len(c.text) && bytes.IndexByte([]byte(" \t\r\n,"), c.text[off]) >= 0 {
		off++
	}
	if off == len(c.text) {
		return c.at(off), 0
	}
	return c.at(off), c.text[off]
}

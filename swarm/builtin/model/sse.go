package model

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent is how many bytes a line, and the data of an event, may hold.
const maxEvent = 64 << 20

// errLongEvent is the error of a stream with an event beyond that.
var errLongEvent = errors.New("an event of the stream is too long")

// sseEvent is an event of a stream.
type sseEvent struct {
	name string // empty: it has none
	data []byte // its lines, joined by LF; the next event overwrites them
}

// done reports whether an event is the mark by which many servers say that
// nothing follows.
func (e sseEvent) done() bool { return bytes.HasPrefix(bytes.TrimSpace(e.data), []byte("[DONE]")) }

// eventReader reads a stream of server-sent events. Its rules are those of
// WHATWG HTML, section 9.2 "Server-sent events" ("Parsing an event stream" and
// "Interpreting an event stream"), with two exceptions: an event that the
// stream ends in counts, since some servers leave the last empty line out, and
// the fields id and retry are ignored, since no reply is resumed.
type eventReader struct {
	in      *bufio.Reader
	limit   int // bytes of a line and of an event's data
	text    []byte
	data    []byte
	begun   bool // the first line was read
	afterCR bool // the last line ended with CR: an LF that follows belongs to it
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(r, 32<<10), limit: maxEvent}
}

// next returns the next event that has data. The error is io.EOF at the end of
// the stream, errLongEvent, or that of the underlying reader. With an error of
// the reader, an event that had begun is lost.
func (r *eventReader) next() (sseEvent, error) {
	var e sseEvent
	r.data = r.data[:0]
	hasData := false // it may be a single empty line
	for {
		line, err := r.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return sseEvent{}, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) { // empty: a comment, or an empty line
		case "event":
			e.name = string(value)
		case "data":
			if len(r.data)+len(value) >= r.limit {
				return sseEvent{}, r.tooLong()
			}
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data, hasData = append(r.data, value...), true
		}
		switch ended := len(line) == 0 || err != nil; {
		case ended && hasData:
			e.data = r.data
			return e, nil
		case err != nil:
			return sseEvent{}, err
		case ended:
			e.name = "" // without data there is no event
		}
	}
}

// line returns the next line without its end, which is CR, LF or both. The
// error is io.EOF with the last line, which has no end and may be empty.
func (r *eventReader) line() ([]byte, error) {
	r.text = r.text[:0]
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.first(r.text), err
		}
		chunk, _ := r.in.Peek(r.in.Buffered()) // cannot fail: it is there
		if r.afterCR {
			r.afterCR = false
			if chunk[0] == '\n' {
				_, _ = r.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			end = len(chunk)
		}
		if len(r.text)+end >= r.limit {
			return nil, r.tooLong()
		}
		r.text = append(r.text, chunk[:end]...)
		if end == len(chunk) {
			_, _ = r.in.Discard(end)
			continue
		}
		r.afterCR = chunk[end] == '\r'
		_, _ = r.in.Discard(end + 1)
		return r.first(r.text), nil
	}
}

// first takes a byte order mark off the first line.
func (r *eventReader) first(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, []byte("\uFEFF"))
}

func (r *eventReader) tooLong() error {
	return fmt.Errorf("%w: it is over %d MiB", errLongEvent, r.limit>>20)
}

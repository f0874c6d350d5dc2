package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// mostWire is the longest line between a script's process and its owner, in
// bytes.
const mostWire = 64 << 20

var (
	// errWireLine is a line that is too long to be read or written.
	errWireLine = errors.New("a message has more than 64 MiB")
	// errWireText is the error for a line that is not a message of the
	// protocol.
	errWireText = errors.New("a message makes no sense")
)

// opening is the first line to a process that runs scripts: its task.
type opening struct {
	Open    string   `json:"open"` // run, load or hooks
	Start   *Start   `json:"start,omitempty"`
	Sources []Source `json:"sources,omitempty"`
	Lib     []Source `json:"lib,omitempty"`
}

// asked is a line from a running script: a request, or its end. Exactly one of
// Do, Post, Next, Outcome and Died is set.
type asked struct {
	Do      string          `json:"do,omitempty"`   // the verb of a request
	Post    string          `json:"post,omitempty"` // the verb of a request
	N       int             `json:"n,omitempty"`    // the number of a posted request
	Body    json.RawMessage `json:"body,omitempty"`
	Next    bool            `json:"next,omitempty"`
	Outcome *Outcome        `json:"outcome,omitempty"`
	Died    *Error          `json:"died,omitempty"`
}

// replied is the line that answers a request.
type replied struct {
	Value    json.RawMessage `json:"value,omitempty"`
	Delivery *Delivery       `json:"delivery,omitempty"`
	Error    *Error          `json:"error,omitempty"`
}

// Loaded is the result of [LoadRemote] for a source.
type Loaded struct {
	Name    string   `json:"name"`
	Meta    *Meta    `json:"meta,omitempty"`    // of a script that has a meta
	Exports []string `json:"exports,omitempty"` // of a library
	// Allow are the items that a script spells out for its agents. Their
	// readers know whether they are valid.
	Allow []Literal `json:"allow,omitempty"`
	// Uses are the tools that a script spells out for its agents.
	Uses []Use `json:"uses,omitempty"`
	// Warnings name the ignored parts of a script, each with its place.
	Warnings []string `json:"warnings,omitempty"`
	Error    *Error   `json:"error,omitempty"`
}

// loaded is the line with the answers about sources.
type loaded struct {
	Loaded []Loaded `json:"loaded,omitempty"`
	Error  *Error   `json:"error,omitempty"` // of a check
	Died   *Error   `json:"died,omitempty"`
}

// hookAsked is a line to a process that decides.
type hookAsked struct {
	N      int             `json:"n"`
	Source string          `json:"source"`
	Input  json.RawMessage `json:"input"`
}

// hookReplied is the line that answers a hook request.
type hookReplied struct {
	N     int             `json:"n,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *Error          `json:"error,omitempty"`
	Died  *Error          `json:"died,omitempty"`
}

// lineReader reads lines of JSON.
type lineReader struct {
	from *bufio.Reader
	most int
}

func newLineReader(from io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(from, 64<<10), mostWire}
}

// line is the next line. Its error is io.EOF at the end, also behind a line
// that was not finished.
func (r *lineReader) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := r.from.ReadSlice('\n')
		if len(whole)+len(part) > r.most {
			return nil, errWireLine
		}
		whole = append(whole, part...)
		if err == nil {
			return whole[:len(whole)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// read reads the next line into a value.
func (r *lineReader) read(to any) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, to); err != nil {
		return fmt.Errorf("%w: %w", errWireText, err)
	}
	return nil
}

// lineWriter writes lines of JSON, each as a whole.
type lineWriter struct {
	mu   sync.Mutex // guards to
	to   io.Writer
	most int
}

func newLineWriter(to io.Writer) *lineWriter { return &lineWriter{to: to, most: mostWire} }

func (w *lineWriter) write(v any) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // a script's return value is passed on as it is
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	if line.Len() > w.most {
		return errWireLine
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.to.Write(line.Bytes()); err != nil {
		return fmt.Errorf("write a message: %w", err)
	}
	return nil
}

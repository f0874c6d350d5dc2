package gocache

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID names an action or its output: the go command uses SHA-256.
type ID [32]byte

// file is the path of an entry below a cache. kind is "a" for an action and "d"
// for an output.
func (id ID) file(kind string) string {
	name := hex.EncodeToString(id[:])
	return name[:2] + "/" + name + "-" + kind
}

// idOf converts the ID of a request.
func idOf(bytes []byte) (id ID, err error) {
	if len(bytes) != len(id) {
		return id, fmt.Errorf("an ID has %d bytes, want %d", len(bytes), len(id))
	}
	return ID(bytes), nil
}

// Entry is the content of an action's file: which output it had.
type Entry struct {
	Output ID
	Size   int64 // of the output, in bytes
	Time   time.Time
}

// An action's file is "v1 ACTION OUTPUT SIZE TIME\n": two IDs in hexadecimal, and
// two numbers in 20 columns. The time is in nanoseconds.
const (
	hexSize   = 2 * len(ID{})
	column    = 20
	entrySize = len("v1 ") + 2*(hexSize+1) + 2*(column+1)
)

// print returns the text of an action's file.
func (e Entry) print(action ID) string {
	return fmt.Sprintf("v1 %x %x %*d %*d\n", action, e.Output, column, e.Size, column, e.Time.UnixNano())
}

// parseEntry reads the file of an action. It accepts no other form than that of
// the go command.
func parseEntry(text string, action ID) (e Entry, err error) {
	if len(text) != entrySize || !strings.HasPrefix(text, "v1 ") || text[entrySize-1] != '\n' {
		return e, errors.New("not the entry of an action")
	}
	id, rest := cut(text[len("v1 "):entrySize-1], hexSize)
	output, rest := cut(rest, hexSize)
	size, when := cut(rest, column)
	if id != hex.EncodeToString(action[:]) {
		return e, errors.New("the entry of another action")
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(output, " "))
	if err != nil {
		return e, fmt.Errorf("read the output's ID: %w", err)
	}
	if e.Output, err = idOf(raw); err != nil {
		return e, err
	}
	if e.Size, err = number(size); err != nil {
		return e, fmt.Errorf("read the size: %w", err)
	}
	nanoseconds, err := number(when)
	if err != nil {
		return e, fmt.Errorf("read the time: %w", err)
	}
	e.Time = time.Unix(0, nanoseconds)
	if e.print(action) != text {
		return e, errors.New("not in the form of the go command")
	}
	return e, nil
}

// cut takes a column and the blank behind it from a text.
func cut(text string, size int) (column, rest string) {
	if len(text) <= size {
		return text, ""
	}
	return text[:size], text[size+1:]
}

// number reads a decimal number without a sign, with blanks before it.
func number(text string) (int64, error) {
	n, err := strconv.ParseUint(strings.TrimLeft(text, " "), 10, 63)
	return int64(n), err
}

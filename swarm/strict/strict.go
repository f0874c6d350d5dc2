// Package strict refuses JSON that two readers could read in two ways: of a
// name that is there twice some take the first, others the last, and those that
// fold the case of names either.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxNesting bounds how deep an object may stand in brackets.
const maxNesting = 200

// Object refuses what is not exactly one object in which no object has a name
// twice, in whatever case, and letters that are none.
func Object(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return errors.New("it begins with a byte order mark")
	case !utf8.Valid(text):
		return errors.New("it is not UTF-8")
	}
	w := walk{dec: decoder(text), name: strings.ToLower, deepest: maxNesting}
	first, err := w.dec.Token()
	if err != nil {
		return err
	}
	if first != json.Delim('{') {
		return errors.New("it is not a JSON object")
	}
	if err := w.object(1); err != nil {
		return err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows its end")
	}
	return nil
}

// Once refuses a value in which an object has a name twice, letter by letter:
// names that differ in their case are names of their own, as those of files
// are. It reads no deeper than it is told.
func Once(value []byte, deepest int) error {
	w := walk{dec: decoder(value), name: func(name string) string { return name }, deepest: deepest}
	return w.value(0)
}

// Names refuses an object that itself has a name twice, in whatever case. What
// its members hold is not looked at.
func Names(object []byte) error {
	w := walk{dec: decoder(object), name: strings.ToLower, deepest: 1, shallow: true}
	return w.value(0)
}

func decoder(text []byte) *json.Decoder {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber() // nothing is made of them
	return dec
}

// walk goes through a text.
type walk struct {
	dec     *json.Decoder
	name    func(string) string // two names are one where these are
	deepest int
	shallow bool // what an object holds is passed over
}

// object reads the rest of an object.
func (w *walk) object(depth int) error {
	if depth > w.deepest {
		return fmt.Errorf("it is nested deeper than %d", w.deepest)
	}
	seen := map[string]bool{}
	for w.dec.More() {
		t, err := w.dec.Token()
		if err != nil {
			return err
		}
		name := w.name(t.(string)) // the decoder takes no other name
		if seen[name] {
			return fmt.Errorf("%q appears twice", name)
		}
		seen[name] = true
		if err := w.member(depth); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// member reads what an object holds by a name.
func (w *walk) member(depth int) error {
	if w.shallow {
		var over json.RawMessage
		return w.dec.Decode(&over)
	}
	return w.value(depth)
}

func (w *walk) value(depth int) error {
	t, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch t {
	case json.Delim('{'):
		return w.object(depth + 1)
	case json.Delim('['):
		if depth > w.deepest {
			return fmt.Errorf("it is nested deeper than %d", w.deepest)
		}
		for w.dec.More() {
			if err := w.value(depth + 1); err != nil {
				return err
			}
		}
		_, err = w.dec.Token()
	}
	return err
}

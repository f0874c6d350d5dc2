package wire

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Lenient reads JSON that people write by hand: with comments, and commas that
// nothing follows, as the agent CLIs take it.
func Lenient(text []byte, into any) error { return json.Unmarshal(plain(text), into) }

// Settings reads an object of such JSON.
func Settings(text []byte) (map[string]any, error) {
	var all map[string]any
	if err := Lenient(text, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errors.New("it is no object")
	}
	return all, nil
}

// plain is such JSON with blanks where the comments and those commas were.
func plain(text []byte) []byte {
	out := bytes.Clone(bytes.TrimPrefix(text, []byte("\ufeff")))
	comma := -1 // the place of a comma without a successor yet
	for i := 0; i < len(out); {
		size := len(blank(out[i:]))
		switch {
		case size > 0:
			copy(out[i:], bytes.Repeat([]byte{' '}, size))
			i += size
			continue
		case out[i] == '"':
			i = pastString(out, i)
			comma = -1
			continue
		case out[i] == ',':
			comma = i
		case out[i] == '}' || out[i] == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(out[i])):
			comma = -1
		}
		i++
	}
	return out
}

// blank is the comment that a text begins with, without the end of its line.
func blank(text []byte) []byte {
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		line, _, _ := bytes.Cut(text, []byte{'\n'})
		return line
	case bytes.HasPrefix(text, []byte("/*")):
		if end := bytes.Index(text[2:], []byte("*/")); end >= 0 {
			return text[:end+4]
		}
	}
	return nil
}

// pastString is where the string that begins at i has ended.
func pastString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// Object is the object of a name within another object: the present value if it
// is an object, else a new object.
func Object(within map[string]any, name string) map[string]any {
	is, ok := within[name].(map[string]any)
	if !ok {
		is = map[string]any{}
		within[name] = is
	}
	return is
}

// Only are the members of an object with the given names.
func Only(all map[string]any, names ...string) map[string]any {
	few := map[string]any{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			few[name] = value
		}
	}
	return few
}

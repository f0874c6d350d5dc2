package schema

import (
	"encoding/json"
	"errors"
	"strings"
)

// ErrNoObject is a text without a JSON object.
var ErrNoObject = errors.New("there is no JSON object in it")

// Extract finds the JSON object of an answer that is a text. It tries the whole
// text, then the last fence marked json, then the text from its first to its
// last brace. It returns an error if none of them is an object.
func Extract(text string) (json.RawMessage, error) {
	text = strings.TrimPrefix(text, "\uFEFF") // some agents write a byte order mark before JSON
	if object := object(text); object != nil {
		return object, nil
	}
	if object := fenced(text); object != nil {
		return object, nil
	}
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if from >= 0 && to > from {
		if object := object(text[from : to+1]); object != nil {
			return object, nil
		}
	}
	return nil, ErrNoObject
}

// object returns a text that is a JSON object, or nil.
func object(text string) json.RawMessage {
	text = strings.Trim(text, " \t\r\n")
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

// fenced is the object in the last fence that is marked json. The fence ends
// where the object does, for its strings may hold marks of fences too.
func fenced(text string) json.RawMessage {
	const mark = "```json"
	at := -1
	for rest, from := text, 0; ; {
		i := strings.Index(rest, mark)
		if i < 0 {
			break
		}
		from += i
		// Marks within a line belong to its text.
		if line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]; strings.TrimSpace(line) == "" {
			at = from + len(mark)
		}
		from += len(mark)
		rest = text[from:]
	}
	if at < 0 {
		return nil
	}
	var found json.RawMessage
	if json.NewDecoder(strings.NewReader(text[at:])).Decode(&found) != nil {
		return nil
	}
	return object(string(found))
}

package schema

import (
	"encoding/json"
	"errors"
	"strings"
)

// ErrNoObject is a text without a JSON object.
var ErrNoObject = errors.New("there is no JSON object in it")

// Extract finds the JSON object of an answer that is a text: the whole of it,
// else what the last fence marked json holds, else what stands between its
// first and its last brace.
func Extract(text string) (json.RawMessage, error) {
	text = strings.TrimPrefix(text, "\uFEFF") // some write one before JSON
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

// object is a text that is one JSON object; nil where it is not.
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
		// Marks within a line are part of what it says.
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

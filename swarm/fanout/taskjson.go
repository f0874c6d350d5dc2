package fanout

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// record is a task on its way from a text, flat: its fields, in their order,
// with values of any type.
type record struct {
	line   int
	fields []recordField
}

type recordField struct {
	name  string
	line  int
	value any // as encoding/json has it, or other
}

// other is a value that JSON has no word for, as a person would call it.
type other string

// jsonl hands on the object of each line that is not blank.
func (r *TasksRequest) jsonl(yield func(record) *TaskError) *TaskError {
	for n, line := range r.lines() {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		fields, reason := object(line, n)
		if reason != "" {
			err := r.wrong(n, "", reason)
			err.Tip = `each line is an object, such as {"id": "a", "prompt": "do this"}`
			return err
		}
		if err := yield(record{line: n, fields: fields}); err != nil {
			return err
		}
	}
	return nil
}

// object reads the object of a line, or returns its fault. It keeps a name that
// stands there twice, which a map would not.
func object(text []byte, line int) ([]recordField, string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return nil, invalid(err)
	}
	if first != json.Delim('{') {
		return nil, "is not a JSON object"
	}
	var fields []recordField
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, invalid(err)
		}
		f := recordField{name: name.(string), line: line} // the decoder takes no other name
		if err := d.Decode(&f.value); err != nil {
			return nil, invalid(err)
		}
		fields = append(fields, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, invalid(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, "has text after the object: write one object a line"
	}
	return fields, ""
}

func invalid(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "is not valid JSON: the line ends within the object"
	}
	return "is not valid JSON: " + err.Error()
}

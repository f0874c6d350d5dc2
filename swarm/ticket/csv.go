package ticket

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// readCSV reads a header and a row for each ticket. All values are strings. A
// name that the header has more than once, as in exports of Jira, is a list of
// the values that are not empty.
func (r *Request) readCSV(add adder) *Error {
	rows := csv.NewReader(bytes.NewReader(r.Text))
	rows.Comma = separator(r.Text)
	header, err := rows.Read()
	if errors.Is(err, io.EOF) {
		return r.wrong(0, "has no header")
	}
	if err != nil {
		return r.badCSV(err)
	}
	times := map[string]int{}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
		times[header[i]]++
	}
	if times[""] == len(header) {
		return r.wrong(1, "the header has no name")
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.badCSV(err)
		}
		line, _ := rows.FieldPos(0)
		fields := map[string]any{}
		for i, name := range header {
			switch {
			case name == "": // a column that no template can name
			case times[name] == 1:
				fields[name] = row[i]
			default:
				list, _ := fields[name].([]string)
				if list == nil {
					list = []string{}
				}
				if row[i] != "" {
					list = append(list, row[i])
				}
				fields[name] = list
			}
		}
		text, err := json.Marshal(fields)
		if err != nil {
			return r.wrong(line, "%v", err)
		}
		if err := add(line, "line-"+strconv.Itoa(line), text); err != nil {
			return err
		}
	}
}

// separator is the first comma, semicolon or tab of the header outside of
// quotes; a comma where there is none.
func separator(text []byte) rune {
	quoted := false
	for _, b := range text {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',' || b == ';' || b == '\t':
			return rune(b)
		case b == '\n':
			return ','
		}
	}
	return ','
}

func (r *Request) badCSV(err error) *Error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return r.wrong(0, "is not valid CSV: %v", err)
	case errors.Is(parse.Err, csv.ErrFieldCount):
		return r.wrong(parse.StartLine, "the row and the header differ in the number of their fields")
	default:
		return r.wrong(parse.Line, "is not valid CSV: %v", parse.Err)
	}
}

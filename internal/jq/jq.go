// Package jq filters lines of JSON by an expression in the language of jq.
//
// It owns when a line is filtered and how results are written. The language is
// that of github.com/itchyny/gojq.
package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/itchyny/gojq"
)

// Query is a compiled expression.
type Query struct{ code *gojq.Code }

// Compile reads an expression. The error says where it is wrong. An expression
// can read no environment, no file and no module.
func Compile(text string) (*Query, error) {
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	code, err := gojq.Compile(parsed)
	if err != nil {
		return nil, err
	}
	return &Query{code}, nil
}

// Filter applies a query to each line that is written to it, which must be a JSON
// value. It writes each result to w as a line: a text as it is, any other value
// as JSON.
type Filter struct {
	ctx   context.Context // Write takes none
	query *Query
	w     io.Writer
	rest  []byte // of a line that has not ended
}

// NewFilter returns a filter that ends with ctx. The caller must close it.
func NewFilter(ctx context.Context, q *Query, w io.Writer) *Filter {
	return &Filter{ctx: ctx, query: q, w: w}
}

// Write takes text, and filters the lines that it ends.
func (f *Filter) Write(text []byte) (int, error) {
	f.rest = append(f.rest, text...)
	for {
		line, rest, ended := bytes.Cut(f.rest, []byte{'\n'})
		if !ended {
			return len(text), nil
		}
		if err := f.line(line); err != nil {
			return 0, err
		}
		f.rest = append(f.rest[:0], rest...)
	}
}

// Close filters a last line without an end.
func (f *Filter) Close() error {
	line := f.rest
	f.rest = nil
	return f.line(line)
}

func (f *Filter) line(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var value any
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber() // a large number keeps its digits
	if err := in.Decode(&value); err != nil {
		return fmt.Errorf("--jq: read the result: %w", err)
	}
	results := f.query.code.RunWithContext(f.ctx, value)
	for {
		v, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := v.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return nil
			}
			return fmt.Errorf("--jq: %w", err)
		}
		if err := f.print(v); err != nil {
			return err
		}
	}
}

func (f *Filter) print(v any) error {
	if text, ok := v.(string); ok {
		_, err := io.WriteString(f.w, text+"\n")
		return err
	}
	text, err := gojq.Marshal(v)
	if err != nil {
		return fmt.Errorf("--jq: %w", err)
	}
	_, err = f.w.Write(append(text, '\n'))
	return err
}

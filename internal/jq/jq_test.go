package jq

import (
	"strings"
	"testing"
)

func run(t *testing.T, expression string, pieces ...string) (string, error) {
	t.Helper()
	q, err := Compile(expression)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	f := NewFilter(t.Context(), q, &out)
	for _, piece := range pieces {
		if _, err := f.Write([]byte(piece)); err != nil {
			return out.String(), err
		}
	}
	err = f.Close()
	return out.String(), err
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, give string
		in         []string
		want       string
	}{
		{"a text is raw", ".id", []string{`{"id":"a1"}` + "\n"}, "a1\n"},
		{"many results", ".agents[].id", []string{`{"agents":[{"id":"a1"},{"id":"a2"}]}` + "\n"}, "a1\na2\n"},
		{"an object", "{n: .a}", []string{`{"a":2}` + "\n"}, "{\"n\":2}\n"},
		{"lines in pieces", ".a", []string{`{"a`, `":1}` + "\n" + `{"a":2`, "}\n"}, "1\n2\n"},
		{"no last line end", ".a", []string{`{"a":1}`}, "1\n"},
		{"large numbers", ".a", []string{`{"a":9007199254740993}` + "\n"}, "9007199254740993\n"},
		{"nothing", "empty", []string{`{"a":1}` + "\n"}, ""},
		{"select", `select(.a > 1) | .a`, []string{`{"a":1}` + "\n" + `{"a":2}` + "\n"}, "2\n"},
		{"halt", ".a, halt, .a", []string{`{"a":1}` + "\n"}, "1\n"},
		{"no environment", "env | length", []string{"{}\n"}, "0\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := run(t, tt.give, tt.in...); got != tt.want || err != nil {
				t.Errorf("%s = %q, %v, want %q", tt.give, got, err, tt.want)
			}
		})
	}
}

func TestFilterFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ give, in, want string }{
		{".[", "{}\n", "unexpected"},
		{"nope", "{}\n", "nope"},
		{".a.b", `{"a":1}` + "\n", "expected an object"},
		{".", "no JSON\n", "read the result"},
		{`input`, "{}\n", "input"},
		{`import "x" as x; .`, "{}\n", "x"},
	} {
		if got, err := run(t, tt.give, tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s of %q = %q, %v, want an error with %q", tt.give, tt.in, got, err, tt.want)
		}
	}
}

package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestBadInput(t *testing.T) {
	t.Parallel()
	s, end := session(t, newFake(), nil)
	defer end()
	for _, tt := range []struct {
		tool string
		in   map[string]any
		want string
	}{
		{nameDispatch, map[string]any{"code": "1", "wait_s": -1}, "wait_s: -1: want 0 to 3600 seconds"},
		{nameDispatch, map[string]any{"code": "1", "wait_s": 1.5}, "wait_s: 1.5: want 0 to 3600 seconds"},
		{nameDispatch, map[string]any{"code": "1", "wait_s": 3601}, "wait_s: 3601: want 0 to 3600 seconds"},
		{nameDispatch, map[string]any{"code": "1", "wait_s": int64(1e12)}, "wait_s: 1e+12: want 0 to 3600 seconds"},
		{nameDispatch, map[string]any{"code": "1", "wait_s": "soon"}, "wait_s: a string is not allowed here"},
		{nameDispatch, map[string]any{"code": 1}, "code: a number is not allowed here"},
		{nameDispatch, map[string]any{"code": "1", "wiat_s": 1}, `input: unknown field "wiat_s"`},
		{nameDispatch, nil, "code: the script is empty"},
		{nameDispatch, map[string]any{"code": "text\n```js\n7\n```"}, "code:1: text stands before the Markdown fence in line 2; send the script alone"},
		{nameWait, map[string]any{"run": run001, "wait_s": -1}, "wait_s: -1: want 0 to 3600 seconds"},
		{nameWait, map[string]any{"run": "nosuch"}, "there is no run nosuch"},
		{nameStatus, map[string]any{"run": "nosuch"}, "there is no run nosuch"},
		{nameStatus, map[string]any{"run": run001, "wait_s": 1}, `input: unknown field "wait_s"`},
		{nameCancel, map[string]any{"run": run001, "wait_s": int64(18446744074)}, "wait_s: 1.8446744074e+10: want 0 to 3600 seconds"},
		{nameCancel, nil, "run: is missing; name the run to stop"},
	} {
		if r := call(t, s, tt.tool, tt.in); !r.IsError || textIn(t, r) != tt.want {
			t.Errorf("%s(%v) = %q, error %v, want %q", tt.tool, tt.in, textIn(t, r), r.IsError, tt.want)
		}
	}
}

// TestTools checks that every client takes the schemas, and that the hints fit
// the tools.
func TestTools(t *testing.T) {
	t.Parallel()
	s, end := session(t, newFake(), nil)
	defer end()
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string][4]bool{ // readOnly, destructive, idempotent, openWorld
		nameDispatch: {false, true, false, true},
		nameWait:     {false, true, true, true},
		nameStatus:   {true, false, true, false},
		nameCancel:   {false, false, true, false},
	}
	if len(list.Tools) != len(hints) {
		t.Fatalf("there are %d tools, want %d", len(list.Tools), len(hints))
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if got := [4]bool{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint, *a.OpenWorldHint}; got != hints[tool.Name] || a.Title == "" {
			t.Errorf("%s has the hints %v and the title %q, want %v", tool.Name, got, a.Title, hints[tool.Name])
		}
		if out, ok := tool.OutputSchema.(map[string]any); !ok || out["type"] != "object" {
			t.Errorf("%s has the output schema %v", tool.Name, tool.OutputSchema)
		}
		in := tool.InputSchema.(map[string]any)
		for name, is := range in["properties"].(map[string]any) {
			p := is.(map[string]any)
			if _, one := p["type"].(string); !one || p["description"] == nil {
				t.Errorf("%s.%s is %v, want one type and a description", tool.Name, name, p)
			}
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", `"type":[`, "$defs"} {
			if strings.Contains(string(text), word) {
				t.Errorf("the input schema of %s has %s", tool.Name, word)
			}
		}
	}
	if at := slices.IndexFunc(list.Tools, func(t *sdk.Tool) bool { return t.Name == nameDispatch }); at < 0 ||
		!strings.Contains(list.Tools[at].Description, "goes on for 10 minutes") || !strings.Contains(list.Tools[at].Description, nameWait) {
		t.Error("dispatch does not say how long a run goes on without its client")
	}
}

package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/builtin/model"
)

// TestGoesOn checks that a reply that was cut off is no answer, nor an empty
// reply.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		f := newFake(t, turn{cut: true}, turn{}, turn{cut: true, calls: []fakeCall{{"write", `{"path":"x","conte`}}}, turn{text: "done"})
		k := start(t, t.Context(), options(t, f.endpoint(api)))
		k.prompt("go")
		if r := k.until("result"); r.Text != "done" {
			t.Errorf("%s: result = %+v", api, r)
		}
		k.finish()
		sent := f.bodies()
		has(t, string(api), sent[1], "cut off")
		has(t, string(api), sent[2], "You said nothing")
		has(t, string(api), sent[3], "smaller parts")
		never := newFake(t, turn{}, turn{}, turn{}, turn{})
		k = start(t, t.Context(), options(t, never.endpoint(api)))
		k.prompt("go")
		if e := k.until("error"); e.Kind != "no_result" {
			t.Errorf("%s: error = %+v", api, e)
		}
	}
}

// TestPieces checks that an answer in several messages, each of the full
// length, consists of all of them.
func TestPieces(t *testing.T) {
	t.Parallel()
	many := make([]turn, maxPieces+1)
	for i := range many {
		many[i] = turn{text: "x", cut: true}
	}
	schema := json.RawMessage(schemaText)
	for _, api := range apis() {
		for _, test := range []struct {
			name       string
			turns      []turn
			schema     json.RawMessage
			text, form string
			kind       string
		}{
			{name: "text", turns: []turn{{text: "one tw", cut: true}, {text: "o thr", cut: true}, {text: "ee"}}, text: "one two three"},
			{name: "it ended there", turns: []turn{{text: "one two", cut: true}, {}}, text: "one two"},
			{name: "tools between", turns: []turn{{text: "I loo", cut: true}, {text: "k", calls: []fakeCall{{"ls", "{}"}}}, {text: "a", cut: true}, {text: "b"}}, text: "ab"},
			{name: "JSON", turns: []turn{{text: `{"n"`, cut: true}, {text: `:7}`}}, schema: schema, text: `{"n":7}`, form: `{"n":7}`},
			{name: "JSON from the start", turns: []turn{{text: `{"n":`, cut: true}, {text: `{"n":8}`}}, schema: schema, text: `{"n":{"n":8}`, form: `{"n":8}`},
			{name: "without an end", turns: many, text: strings.Repeat("x", maxPieces+1), kind: "no_result"},
		} {
			f := newFake(t, test.turns...)
			k := start(t, t.Context(), options(t, f.endpoint(api)))
			k.say(obj{"type": "prompt", "text": "go", "schema": test.schema})
			if test.kind != "" {
				if e := k.until("error"); e.Kind != test.kind {
					t.Errorf("%s, %s: error = %+v", api, test.name, e)
				}
			} else if r := k.until("result"); r.Text != test.text || string(r.Structured) != test.form {
				t.Errorf("%s, %s: result = %+v, want %q, %s", api, test.name, r, test.text, test.form)
			} else {
				k.finish()
			}
			if all := k.of("text"); len(all) == 0 || all[len(all)-1].Text != test.text {
				t.Errorf("%s, %s: texts = %+v", api, test.name, all)
			}
			if sent := f.bodies(); test.schema != nil && api != model.Anthropic && strings.Contains(sent[1], `"json_schema"`) {
				t.Errorf("%s, %s: it is to begin anew: %s", api, test.name, sent[1])
			}
		}
	}
	f := newFake(t, turn{text: "one tw", cut: true}, turn{text: "o"})
	o := options(t, f.endpoint(model.Chat))
	o.Prompt, o.Session = "go", ""
	if stdout, _, err := plainRun(t, o); err != nil || stdout != "one two\n" {
		t.Errorf("stdout = %q, %v", stdout, err)
	}
}

package builtin

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/builtin/model"
)

const schemaText = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`

// TestSchema checks how each API asks for an answer with a form, and that the
// agent asks again after a wrong answer.
func TestSchema(t *testing.T) {
	t.Parallel()
	good := func(api model.API) turn {
		if api == model.Anthropic {
			return turn{calls: []fakeCall{{"answer", `{"n":7}`}}}
		}
		return turn{text: `{"n":7}`}
	}
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, turn{calls: []fakeCall{{"ls", `{}`}}}, turn{text: `{"n":"seven"}`}, good(api))
			k := start(t, t.Context(), options(t, f.endpoint(api)))
			k.say(obj{"type": "prompt", "text": "count", "schema": json.RawMessage(schemaText)})
			if r := k.until("result"); string(r.Structured) != `{"n":7}` {
				t.Errorf("result = %+v", r)
			}
			k.finish()
			sent := f.bodies()
			has(t, "the request after a wrong answer", sent[2], "/n: got string, want integer")
			if api == model.Anthropic {
				has(t, "the first request", sent[0], `"name":"answer"`)
				has(t, "the request after a wrong answer", sent[2], `"tool_choice":{"name":"answer","type":"tool"}`)
				return
			}
			// A local server that writes by a schema would call no tools.
			first := sent[0]
			if api == model.Chat {
				if first = sent[2]; strings.Contains(sent[0]+sent[1], `"json_schema"`) {
					t.Errorf("a schema goes along before the answer: %s", sent[0])
				}
			}
			has(t, "the first request for it", first, `"json_schema"`, `"strict":true`, `"integer"`)
		})
	}
	t.Run("never", func(t *testing.T) {
		t.Parallel()
		f := newFake(t, turn{text: "seven"}, turn{text: "{}"}, turn{text: "VII"}, turn{text: `{"n":7}`})
		k := start(t, t.Context(), options(t, f.endpoint(model.Chat)))
		k.say(obj{"type": "prompt", "text": "count", "schema": json.RawMessage(schemaText)})
		if e := k.until("error"); e.Kind != "schema" || len(f.bodies()) != 3 {
			t.Errorf("error = %+v after %d requests", e, len(f.bodies()))
		}
	})
}

// TestSchemaUntaken holds that a server which takes no schema is asked without,
// and that this is said.
func TestSchemaUntaken(t *testing.T) {
	t.Parallel()
	for _, api := range []model.API{model.Chat, model.Responses} {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, turn{text: "{}"}, turn{status: 400, body: `{"error":{"message":"response_format with tools is not supported"}}`}, turn{text: `{"n":7}`})
			if api == model.Responses {
				f.turns = f.turns[1:]
			}
			k := start(t, t.Context(), options(t, f.endpoint(api)))
			k.say(obj{"type": "prompt", "text": "count", "schema": json.RawMessage(schemaText)})
			if r := k.until("result"); string(r.Structured) != `{"n":7}` {
				t.Errorf("result = %+v", r)
			}
			k.finish()
			sent := f.bodies()
			if strings.Contains(sent[len(sent)-1], `"json_schema"`) {
				t.Errorf("it asks again for a form: %s", sent)
			}
			if r := k.of("retry"); len(r) != 1 || !strings.Contains(r[0].Message, "the server does not take response_format, and is asked without (400") {
				t.Errorf("told %+v", r)
			}
		})
	}
}

// TestUntaken holds that a server which does not know a member is asked without
// it from then on, and that this is said.
func TestUntaken(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{status: 400, body: `{"error":"unknown field stream_options"}`}, turn{calls: []fakeCall{{"ls", "{}"}}}, turn{text: "done"})
	o := options(t, f.endpoint(model.Chat))
	o.Prompt, o.Session = "go", ""
	stdout, stderr, err := plainRun(t, o)
	if sent := f.bodies(); err != nil || stdout != "done\n" || !strings.Contains(sent[0], "stream_options") || strings.Contains(sent[1]+sent[2], "stream_options") {
		t.Errorf("%q, %v, sent %q", stdout, err, sent)
	}
	has(t, "stderr", stderr, "the server does not take stream_options, and is asked without (400 Bad Request: unknown field stream_options)\n")
	f = newFake(t, turn{status: 400, body: `stream_options`}, turn{status: 400, body: `stream_options`})
	k := start(t, t.Context(), options(t, f.endpoint(model.Chat)))
	k.prompt("go")
	if e := k.until("error"); e.Kind != "invalid" || len(f.bodies()) != 2 {
		t.Errorf("error = %+v after %d requests", e, len(f.bodies()))
	}
}

// TestCompaction checks that turns are summarised before they fill the window,
// that people's messages stay, and that a fork goes on from there.
func TestCompaction(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			f := newFake(
				t,
				turn{text: "old news", calls: []fakeCall{{"ls", `{}`}}, input: 10},
				turn{text: "latest", calls: []fakeCall{{"ls", `{}`}}, input: 90_000},
				turn{text: "the summary", input: 90_000},
				turn{text: "done", input: 500},
			)
			o := options(t, f.endpoint(api))
			k := start(t, t.Context(), o)
			k.prompt("the task, as it is")
			if r := k.until("result"); r.Text != "done" {
				t.Errorf("result = %+v", r)
			}
			k.finish()
			sent := f.bodies()
			has(t, "the request for a summary", sent[2], "the task, as it is", "old news", "Write down what you need")
			has(t, "the request after it", sent[3], "the task, as it is", "the summary", "latest")
			if strings.Contains(sent[3], "old news") {
				t.Error("what was left out is sent")
			}
			if n := len(k.of("usage")); n != 4 {
				t.Errorf("%d usages", n)
			}
			child := newFake(t, turn{text: "done"})
			p := options(t, child.endpoint(api))
			p.Fork = o.Session
			k = start(t, t.Context(), p)
			k.prompt("go on")
			k.until("result")
			k.finish()
			if was, is := conversation(t, api, sent[3]), conversation(t, api, child.bodies()[0]); !strings.HasPrefix(is, was) {
				t.Errorf("the fork sends\n%s\nafter\n%s", is, was)
			}
		})
	}
}

// TestTooLong holds that a conversation which a provider finds too long is
// made shorter once.
func TestTooLong(t *testing.T) {
	t.Parallel()
	long := turn{status: 400, body: `{"error":{"message":"prompt is too long: 300000 tokens"}}`}
	f := newFake(t, turn{calls: []fakeCall{{"read", `{"path":"big"}`}}}, turn{calls: []fakeCall{{"ls", `{}`}}}, long, turn{text: "the summary"}, turn{text: "done"})
	o := options(t, f.endpoint(model.Chat))
	put(t, o.Root, "big", strings.Repeat("0123456789\n", 1000))
	k := start(t, t.Context(), o)
	k.prompt("go")
	k.until("result")
	k.finish()
	if sent := f.bodies(); len(sent[3]) > len(sent[2])-5000 || !strings.Contains(sent[4], "the summary") {
		t.Errorf("requests of %d, %d and %d bytes", len(sent[2]), len(sent[3]), len(sent[4]))
	}
	f = newFake(t, long)
	k = start(t, t.Context(), options(t, f.endpoint(model.Chat)))
	k.prompt("go")
	if e := k.until("error"); e.Kind != "invalid" || !strings.Contains(e.Message, "the task is longer") {
		t.Errorf("error = %+v", e)
	}
}

// TestPlain checks the output for a person.
func TestPlain(t *testing.T) {
	t.Parallel()
	f := newFake(t, turn{text: "I look", calls: []fakeCall{{"read", `{"path":"none"}`}}}, turn{status: 429, header: map[string]string{"Retry-After-Ms": "1"}, body: "busy"}, turn{text: "Nothing there."})
	o := options(t, f.endpoint(model.Chat))
	o.Prompt, o.Session = "look", ""
	stdout, stderr, err := plainRun(t, o)
	if err != nil || stdout != "I look\nNothing there.\n" {
		t.Errorf("stdout = %q, %v", stdout, err)
	}
	has(t, "stderr", stderr, `read {"path":"none"}`, "none: there is no such file", "429 Too Many Requests: busy; trying again in ")

	f = newFake(t, turn{text: `{"n":7}`})
	o = options(t, f.endpoint(model.Responses))
	o.Prompt, o.Session, o.Schema = "count", "", json.RawMessage(schemaText)
	if stdout, _, err := plainRun(t, o); err != nil || stdout != "{\"n\":7}\n" {
		t.Errorf("stdout = %q, %v", stdout, err)
	}
}

// TestOptions are those that cannot be.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Tools = []string{"fly"} }, `unknown tool "fly"`},
		{func(o *Options) { o.Tools, o.ReadOnly = []string{"bash"}, true }, "the tool bash changes things"},
		{func(o *Options) { o.Schema = json.RawMessage(`{"type":"string"}`) }, "object"},
	} {
		f := newFake(t)
		o := options(t, f.endpoint(model.Chat))
		test.change(&o)
		if _, _, err := plainRun(t, o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Run = %v, want %s", err, test.want)
		}
		if len(f.bodies()) > 0 {
			t.Error("something was asked")
		}
	}
}

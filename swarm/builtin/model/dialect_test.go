package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/task"
)

// served sends a request to a server that always answers with the same stream.
// It returns the reply, the shown text and the body that the server got.
func served(t *testing.T, e Endpoint, r *Request, stream string) (reply *Reply, shown, sent string, err error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		sent = string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	defer s.Close()
	e.URL, e.Spec.Provider = s.URL, "p"
	if e.Spec.Model == "" {
		e.Spec.Model = "m"
	}
	if len(r.Messages) == 0 {
		r.Messages = []Message{NewMessage(User, "hi")}
	}
	reply, err = New(&e).Ask(t.Context(), r, func(text string) { shown += text })
	return reply, shown, sent, err
}

// sse is a stream of some events, by their types.
func sse(events ...string) string {
	var all strings.Builder
	for _, e := range events {
		var w struct{ Type string }
		if json.Unmarshal([]byte(e), &w) == nil && w.Type != "" {
			all.WriteString("event: " + w.Type + "\n")
		}
		all.WriteString("data: " + e + "\n\n")
	}
	return all.String()
}

// TestDialects checks replies of servers that vary from OpenAI's Chat
// Completions.
func TestDialects(t *testing.T) {
	t.Parallel()
	delta := func(d string) string { return `{"choices":[{"index":0,"delta":` + d + `}]}` }
	stop := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	for _, test := range []struct {
		name, model, stream string
		want                []Part
		shown               string // empty: the text of want
		stop                Stop
		kind                task.ErrorKind
	}{
		{name: "plain", stream: sse(delta(`{"role":"assistant","content":"a "}`), delta(`{"role":"assistant","content":"b"}`), stop, "[DONE]"), want: []Part{&Text{"a b"}}},
		{name: "no reason for the end", stream: sse(delta(`{"content":"a"}`), "[DONE]"), want: []Part{&Text{"a"}}},
		{name: "a refusal", stream: sse(delta(`{"refusal":"I will not"}`), stop), want: []Part{&Text{"I will not"}}, stop: Denied},
		{name: "no end", stream: sse(delta(`{"content":"a"}`)), kind: task.Overloaded},
		{name: "cut off", stream: sse(delta(`{"content":"a"}`), `{"choices":[{"index":0,"delta":null,"finish_reason":"length"}]}`), want: []Part{&Text{"a"}}, stop: Cut},
		{name: "nothing is null", stream: sse(`{"error":null,"model":null,"usage":null,"choices":[{"index":0,"delta":{"content":null,"tool_calls":null,"role":null},"finish_reason":null}]}`, delta(`{"content":"a"}`), stop), want: []Part{&Text{"a"}}},
		{name: "comments, and lines of another system", stream: ": keep alive\r\n\r\ndata:" + delta(`{"content":"a"}`) + "\r\n\r\ndata: " + stop + "\r\n\r\n", want: []Part{&Text{"a"}}},
		{name: "a member of another type", stream: sse(`{"created":"now","usage":{"prompt_tokens":"?"},"choices":[{"index":0,"delta":{"content":"a"}}]}`, stop), want: []Part{&Text{"a"}}},
		{name: "an error within", stream: sse(delta(`{"content":"a"}`), `{"error":{"message":"out of memory"}}`), kind: task.Overloaded},
		{name: "no JSON", stream: sse("{"), kind: task.Overloaded},
		{name: "a thought", stream: sse(delta(`{"content":"\n<thi"}`), delta(`{"content":"nk>secret </th"}`), delta(`{"content":"ink>\n\nan"}`), delta(`{"content":"swer"}`), stop), want: []Part{&Text{"answer"}}},
		{name: "two thoughts", stream: sse(delta(`{"content":"<think>secret</think><think>secret</think>a"}`), stop), want: []Part{&Text{"a"}}},
		{name: "a thought without an end", stream: sse(delta(`{"content":"<think>secret"}`), `{"choices":[{"finish_reason":"length"}]}`), stop: Cut},
		{name: "a thought of which the end is told", model: "qwen3-thinking", stream: sse(delta(`{"content":"secret\n</th"}`), delta(`{"content":"ink>\n\nanswer"}`), stop), want: []Part{&Text{"answer"}}},
		{name: "the same of any model", stream: sse(delta(`{"content":"secret\n</think>\n\nanswer"}`), stop), want: []Part{&Text{"answer"}}, shown: "secret\n</think>\n\nanswer"},
		{name: "a model that thinks, and says so apart", model: "deepseek-r1", stream: sse(delta(`{"reasoning_content":"secret"}`), delta(`{"content":"ans"}`), `{"choices":[{"delta":{"content":"wer"},"finish_reason":"length"}]}`), want: []Part{&Text{"answer"}}, stop: Cut},
		{name: "the same by another name", stream: sse(delta(`{"reasoning":"secret"}`), delta(`{"content":"answer"}`), stop), want: []Part{&Text{"answer"}}},
		{name: "parts", stream: sse(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"secret"}]},{"type":"text","text":"answer"}]}`), stop), want: []Part{&Text{"answer"}}},
		{name: "tags that are talked of", stream: sse(delta(`{"content":"Write <think> and\n`+"```"+`\n</think>\n`+"```"+`\nabove it."}`), stop), want: []Part{&Text{"Write <think> and\n```\n</think>\n```\nabove it."}}},
		{name: "tags that were asked for", stream: sse(delta(`{"content":"<reasoning>why</reasoning>"}`), delta(`{"content":"answer"}`), stop), want: []Part{&Text{"<reasoning>why</reasoning>answer"}}},
		{name: "tags that were asked for, behind a thought", model: "deepseek-r1", stream: sse(delta(`{"content":"<think>secret</think><reasoning>why</reasoning>answer"}`), stop), want: []Part{&Text{"<reasoning>why</reasoning>answer"}}},
		{name: "a model that thinks in its own tags", model: "reka-flash-3", stream: sse(delta(`{"content":"<reasoning>secret</reasoning>answer"}`), stop), want: []Part{&Text{"answer"}}},
		{name: "another tag", stream: sse(delta(`{"content":"<th"}`), delta(`{"content":"ead>"}`), stop), want: []Part{&Text{"<thead>"}}},
		{name: "what is wanted back", stream: sse(delta(`{"reasoning_content":"sec"}`), delta(`{"reasoning_content":"ret"}`), delta(`{"tool_calls":[{"id":"a","function":{"name":"ls","arguments":""}}]}`), stop),
			want: []Part{&Thought{Chat, json.RawMessage(`"secret"`)}, &Call{"a", "ls", json.RawMessage("{}")}}},
	} {
		reply, shown, _, err := served(t, Endpoint{API: Chat, Spec: roles.Spec{Model: test.model}}, &Request{}, test.stream)
		if test.kind != "" {
			var e *Error
			if !asError(err, &e) || e.Kind != test.kind {
				t.Errorf("%s: %v, want %s", test.name, err, test.kind)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		want := test.shown
		if want == "" {
			want = (Message{Parts: test.want}).Said()
		}
		if test.stop == "" {
			test.stop = Done
		}
		if !reflect.DeepEqual(reply.Message.Parts, test.want) || reply.Stop != test.stop || shown != want {
			line, _ := json.Marshal(reply.Message)
			t.Errorf("%s: %s (%s), shown %q, want %+v, shown %q", test.name, line, reply.Stop, shown, test.want, want)
		}
	}
}

// TestChatTurns checks that roles take turns. Thoughts that a server wants back
// go with their calls, unless the server refuses them.
func TestChatTurns(t *testing.T) {
	t.Parallel()
	r := &Request{Shared: "s", Messages: []Message{
		{Role: User, Parts: []Part{&Note{"top"}, &Text{"task"}}},
		NewMessage(User, "steer"),
		{Role: Assistant, Parts: []Part{&Thought{Chat, json.RawMessage(`"why"`)}, &Thought{Anthropic, json.RawMessage(`"no"`)}, &Call{"a", "ls", json.RawMessage("{}")}}},
		{Role: User, Parts: []Part{&Result{ID: "a", Text: "r"}, &Note{"last turn"}}},
		NewMessage(User, "again"),
	}}
	reply := sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`)
	_, _, sent, err := served(t, Endpoint{API: Chat}, r, reply)
	const want = `"messages":[{"content":"s","role":"system"},{"content":"top\n\ntask\n\nsteer","role":"user"},` +
		`{"tool_calls":[{"id":"a","function":{"arguments":"{}","name":"ls"},"type":"function"}],"role":"assistant","reasoning_content":"why"},` +
		`{"content":"r","tool_call_id":"a","role":"tool"},{"content":"last turn\n\nagain","role":"user"}]`
	if err != nil || !strings.Contains(sent, want) {
		t.Errorf("%v, sent\n%s\nwant\n%s", err, sent, want)
	}
	r.Without = []string{reasoningContent}
	if _, _, sent, _ := served(t, Endpoint{API: Chat}, r, reply); strings.Contains(sent, "why") {
		t.Errorf("sent %s", sent)
	}
}

// TestChatMembers holds which members go along, and which are left out where a
// server does not take them.
func TestChatMembers(t *testing.T) {
	t.Parallel()
	reply := sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`)
	tools := []Tool{{Name: "ls", Schema: json.RawMessage(`{"type":"object"}`)}}
	schema := json.RawMessage(`{"type":"object"}`)
	for _, test := range []struct {
		name      string
		give      Request
		has, hasA []string // parts that the request has, and parts that it lacks
	}{
		{"all", Request{Schema: schema}, []string{`"stream_options":{"include_usage":true}`, `"max_completion_tokens":9`, `"json_schema"`, `"reasoning_effort":"low"`}, []string{`"max_tokens"`}},
		{"none", Request{Schema: schema, Without: []string{streamOptions, maxCompletionTokens, responseFormat}}, []string{`"max_tokens":9`, `"stream":true`}, []string{"stream_options", "max_completion_tokens", "json_schema"}},
		{"tools before the answer", Request{Schema: schema, Tools: tools}, []string{`"tools"`}, []string{"json_schema"}},
		{"nothing but the answer", Request{Schema: schema, Tools: tools, Must: true}, []string{`"json_schema"`}, nil},
	} {
		e := Endpoint{API: Chat, Facts: Facts{MaxOutput: 9}}
		e.Spec.Effort = "low"
		_, _, sent, err := served(t, e, &test.give, reply)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		for _, part := range test.has {
			if !strings.Contains(sent, part) {
				t.Errorf("%s: sent %s, without %s", test.name, sent, part)
			}
		}
		for _, part := range test.hasA {
			if strings.Contains(sent, part) {
				t.Errorf("%s: sent %s, with %s", test.name, sent, part)
			}
		}
	}
}

package builtin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	// Its supervisors are this test binary.
	_ "agentswarm/swarm/early"

	"agentswarm/roles"
	"agentswarm/swarm/builtin/model"
)

// turn is a reply of the fake provider.
type turn struct {
	text   string
	calls  []fakeCall
	cut    bool // at the most that a reply may hold
	status int  // an error
	header map[string]string
	body   string
	drop   bool // in the middle
	model  string
	input  int           // tokens, 100 of which are cached where there are as many
	hold   chan struct{} // the reply comes once it is closed
	asked  chan struct{} // closed when the request is there
	raw    []string      // events of the stream, in place of all others
}

type fakeCall struct{ name, input string }

// fake is a provider that speaks all three APIs and gives scripted replies.
type fake struct {
	*httptest.Server
	mu       sync.Mutex // guards the fields below
	turns    []turn
	requests []string // bodies
}

func newFake(t *testing.T, turns ...turn) *fake {
	t.Helper()
	f := &fake{turns: turns}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// endpoint is where the model is, by an API.
func (f *fake) endpoint(api model.API) *model.Endpoint {
	url := f.URL
	if api != model.Anthropic {
		url += "/v1"
	}
	return &model.Endpoint{
		Spec: roles.Spec{Provider: "fake", Model: "m"}, API: api, URL: url, Key: "secret",
		Facts: model.Facts{ContextWindow: 100_000}, Secrets: []string{"FAKE_KEY"},
	}
}

func (f *fake) next(body string) turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, body)
	if len(f.turns) == 0 {
		return turn{status: http.StatusTeapot, body: "the script is over"}
	}
	next := f.turns[0]
	f.turns = f.turns[1:]
	return next
}

// bodies are the requests so far.
func (f *fake) bodies() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.requests...)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	next := f.next(string(body))
	if next.asked != nil {
		close(next.asked)
	}
	if next.hold != nil {
		select {
		case <-next.hold:
		case <-r.Context().Done():
			return
		}
	}
	for k, v := range next.header {
		w.Header().Set(k, v)
	}
	if next.status != 0 {
		http.Error(w, next.body, next.status)
		return
	}
	if next.model == "" {
		next.model = "m"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	events := next.events(r.URL.Path)
	if next.drop {
		events = events[:len(events)/2]
	}
	for _, e := range events {
		text, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		var typed struct{ Type string }
		_ = json.Unmarshal(text, &typed)
		if kind := typed.Type; kind != "" {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", text)
		w.(http.Flusher).Flush()
	}
	if next.drop {
		panic(http.ErrAbortHandler)
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// events are those of the reply, by the API that a path is of.
func (t turn) events(path string) []any {
	switch {
	case t.raw != nil:
		var all []any
		for _, text := range t.raw {
			all = append(all, json.RawMessage(text))
		}
		return all
	case strings.HasSuffix(path, "/chat/completions"):
		return t.chat()
	case strings.HasSuffix(path, "/responses"):
		return t.responses()
	default:
		return t.messages()
	}
}

type obj = map[string]any

func (t turn) cached() int {
	if t.input >= 100 {
		return 100
	}
	return 0
}

func (t turn) chat() []any {
	chunk := func(delta obj, finish any) any {
		return obj{"id": "c", "model": t.model, "choices": []any{obj{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	var all []any
	for _, piece := range strings.SplitAfter(t.text, " ") {
		all = append(all, chunk(obj{"content": piece}, nil))
	}
	for i, c := range t.calls {
		half := len(c.input) / 2
		all = append(all,
			chunk(obj{"tool_calls": []any{obj{"index": i, "id": fmt.Sprintf("id%d", i), "type": "function", "function": obj{"name": c.name, "arguments": c.input[:half]}}}}, nil),
			chunk(obj{"tool_calls": []any{obj{"index": i, "function": obj{"arguments": c.input[half:]}}}}, nil))
	}
	finish := "stop"
	if t.cut {
		finish = "length"
	} else if len(t.calls) > 0 {
		finish = "tool_calls"
	}
	return append(all, chunk(obj{}, finish), obj{"id": "c", "model": t.model, "choices": []any{}, "usage": obj{
		"prompt_tokens": t.input, "completion_tokens": 7, "total_tokens": t.input + 7,
		"prompt_tokens_details": obj{"cached_tokens": t.cached()},
	}})
}

func (t turn) responses() []any {
	all := []any{obj{"type": "response.created", "response": obj{"id": "r"}}}
	done := func(item obj) { all = append(all, obj{"type": "response.output_item.done", "item": item}) }
	done(obj{"type": "reasoning", "id": "rs", "summary": []any{}, "encrypted_content": "thought"})
	if t.text != "" {
		for _, piece := range strings.SplitAfter(t.text, " ") {
			all = append(all, obj{"type": "response.output_text.delta", "delta": piece})
		}
		done(obj{"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": []any{obj{"type": "output_text", "text": t.text}}})
	}
	for i, c := range t.calls {
		done(obj{"type": "function_call", "id": "fc", "call_id": fmt.Sprintf("id%d", i), "name": c.name, "arguments": c.input})
	}
	end, details := "response.completed", any(nil)
	if t.cut {
		end, details = "response.incomplete", obj{"reason": "max_output_tokens"}
	}
	return append(all, obj{"type": end, "response": obj{
		"id": "r", "model": t.model, "incomplete_details": details,
		"usage": obj{
			"input_tokens": t.input, "output_tokens": 7, "total_tokens": t.input + 7,
			"input_tokens_details": obj{"cached_tokens": t.cached()}, "output_tokens_details": obj{},
		},
	}})
}

func (t turn) messages() []any {
	all := []any{obj{"type": "message_start", "message": obj{
		"id": "msg", "type": "message", "role": "assistant", "model": t.model, "content": []any{},
		"usage": obj{"input_tokens": t.input - t.cached(), "cache_read_input_tokens": t.cached(), "cache_creation_input_tokens": 0, "output_tokens": 1},
	}}}
	n := 0
	block := func(start obj, deltas ...obj) {
		all = append(all, obj{"type": "content_block_start", "index": n, "content_block": start})
		for _, d := range deltas {
			all = append(all, obj{"type": "content_block_delta", "index": n, "delta": d})
		}
		all = append(all, obj{"type": "content_block_stop", "index": n})
		n++
	}
	if t.text != "" {
		var deltas []obj
		for _, piece := range strings.SplitAfter(t.text, " ") {
			deltas = append(deltas, obj{"type": "text_delta", "text": piece})
		}
		block(obj{"type": "text", "text": ""}, deltas...)
	}
	for i, c := range t.calls {
		half := len(c.input) / 2
		block(obj{"type": "tool_use", "id": fmt.Sprintf("id%d", i), "name": c.name, "input": obj{}},
			obj{"type": "input_json_delta", "partial_json": c.input[:half]}, obj{"type": "input_json_delta", "partial_json": c.input[half:]})
	}
	reason := "end_turn"
	if t.cut {
		reason = "max_tokens"
	} else if len(t.calls) > 0 {
		reason = "tool_use"
	}
	return append(all, obj{"type": "message_delta", "delta": obj{"stop_reason": reason}, "usage": obj{"output_tokens": 7}}, obj{"type": "message_stop"})
}

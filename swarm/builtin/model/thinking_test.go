package model

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"agentswarm/roles"
)

func asError(err error, to **Error) bool { return errors.As(err, to) }

// answeredBy is a reply by each API that is no more than a word.
func answeredBy(api API) string {
	switch api {
	case Responses:
		return sse(`{"type":"response.completed","response":{"model":"m","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}`)
	case Anthropic:
		return sse(`{"type":"message_start","message":{"model":"m","content":[],"usage":{}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)
	default:
		return sse(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`)
	}
}

// TestThinking checks how each API is told how much a model is to think, and
// that none is asked for the model's thoughts.
func TestThinking(t *testing.T) {
	t.Parallel()
	called := []Message{NewMessage(User, "go"), {Role: Assistant, Parts: []Part{&Call{"a", "ls", json.RawMessage("{}")}}}, {Role: User, Parts: []Part{&Result{ID: "a", Text: "r"}}}}
	thought := append([]Message(nil), called...)
	thought[1] = Message{Role: Assistant, Parts: append([]Part{&Kept{Anthropic, json.RawMessage(`{"type":"thinking","thinking":"","signature":"s"}`)}}, called[1].Parts...)}
	for _, test := range []struct {
		name     string
		api      API
		effort   string
		thinking int64
		give     Request
		has, not string
	}{
		{name: "a number", api: Anthropic, thinking: 2000, has: `"thinking":{"budget_tokens":2000,"display":"omitted","type":"enabled"}`},
		{name: "a number, of an older server", api: Anthropic, thinking: 2000, give: Request{Without: []string{thinkingDisplay}}, has: `"thinking":{"budget_tokens":2000,"type":"enabled"}`},
		{name: "no number", api: Anthropic, not: `"thinking"`},
		{name: "no tool is forced on one that thinks", api: Anthropic, thinking: 2000, give: Request{Schema: json.RawMessage(`{"type":"object"}`), Must: true}, has: `"name":"answer"`, not: `"tool_choice"`},
		{name: "thoughts are gone", api: Anthropic, thinking: 2000, give: Request{Messages: called}, not: `"thinking"`},
		{name: "thoughts are there", api: Anthropic, thinking: 2000, give: Request{Messages: thought}, has: `"signature":"s"`},
		{name: "an effort", api: Anthropic, effort: "high", has: `"output_config":{"effort":"high"}`},
		{name: "an effort", api: Responses, effort: "xhigh", has: `"reasoning":{"effort":"xhigh"}`, not: `"summary"`},
		{name: "an effort", api: Chat, effort: "minimal", has: `"reasoning_effort":"minimal"`},
		{name: "none", api: Chat, not: `"reasoning_effort"`},
		{name: "none", api: Responses, not: `"effort"`},
	} {
		e := Endpoint{API: test.api, Thinking: test.thinking, Spec: roles.Spec{Effort: test.effort}}
		_, _, sent, err := served(t, e, &test.give, answeredBy(test.api))
		if err != nil || !strings.Contains(sent, test.has) || test.not != "" && strings.Contains(sent, test.not) {
			t.Errorf("%s, %s: %v, sent %s, want %s and no %s", test.api, test.name, err, sent, test.has, test.not)
		}
	}
	for api, want := range map[API]string{Chat: "say how much it is to think by an effort", Responses: "by an effort"} {
		if err := (&Endpoint{API: api}).Think(2000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Think by %s = %v, want %s", api, err, want)
		}
	}
	for tokens, ok := range map[int64]bool{1023: false, 1024: true, 7999: true, 8000: false} {
		e := &Endpoint{API: Anthropic, Facts: Facts{MaxOutput: 8000}}
		if err := e.Think(tokens); (err == nil) != ok || ok && e.Thinking != tokens {
			t.Errorf("Think(%d) = %v", tokens, err)
		}
	}
}

// TestReasoning checks the kept part of reasoning: a server that wants readable
// reasoning gets it back. It is neither shown nor written.
func TestReasoning(t *testing.T) {
	t.Parallel()
	block := func(start string, deltas ...string) string {
		all := []string{`{"type":"message_start","message":{"model":"m","content":[],"usage":{}}}`, `{"type":"content_block_start","index":0,"content_block":` + start + `}`}
		for _, d := range deltas {
			all = append(all, `{"type":"content_block_delta","index":0,"delta":`+d+`}`)
		}
		return sse(append(all, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, `{"type":"message_stop"}`)...)
	}
	item := func(text string) string {
		return sse(`{"type":"response.reasoning_text.delta","delta":"secret"}`, `{"type":"response.reasoning_summary_text.delta","delta":"secret"}`,
			`{"type":"response.output_item.done","item":`+text+`}`, `{"type":"response.completed","response":{"model":"m"}}`)
	}
	for _, test := range []struct {
		name, stream string
		api          API
		want         []Part
	}{
		{"encrypted", block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"s"}`), Anthropic,
			[]Part{&Kept{Anthropic, json.RawMessage(`{"type":"thinking","thinking":"","signature":"s"}`)}}},
		{"to be read", block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"secret"}`, `{"type":"signature_delta","signature":"s"}`), Anthropic,
			[]Part{&Thought{Anthropic, json.RawMessage(`{"type":"thinking","thinking":"secret","signature":"s"}`)}}},
		{"redacted", block(`{"type":"redacted_thinking","data":"d"}`), Anthropic, []Part{&Kept{Anthropic, json.RawMessage(`{"type":"redacted_thinking","data":"d"}`)}}},
		{"encrypted", item(`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"secret"}],"content":[{"type":"reasoning_text","text":"secret"}],"encrypted_content":"x"}`), Responses,
			[]Part{&Kept{Responses, json.RawMessage(`{"encrypted_content":"x","id":"r","summary":[],"type":"reasoning"}`)}}},
		{"to be read", item(`{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"secret"}]}`), Responses,
			[]Part{&Thought{Responses, json.RawMessage(`{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"secret"}]}`)}}},
		{"only summarised", item(`{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"secret"}]}`), Responses, nil},
	} {
		reply, shown, _, err := served(t, Endpoint{API: test.api}, &Request{}, test.stream)
		if err != nil || !reflect.DeepEqual(reply.Message.Parts, test.want) || shown != "" {
			t.Errorf("%s, %s: %v, shown %q", test.api, test.name, err, shown)
			continue
		}
		line, err := json.Marshal(reply.Message)
		if err != nil || strings.Contains(string(line), "secret") {
			t.Errorf("%s, %s: written as %s, %v", test.api, test.name, line, err)
		}
		back := &Request{Messages: []Message{NewMessage(User, "go"), reply.Message, NewMessage(User, "on")}}
		_, _, sent, err := served(t, Endpoint{API: test.api}, back, answeredBy(test.api))
		for _, p := range test.want {
			raw := ""
			switch p := p.(type) {
			case *Kept:
				raw = string(p.JSON)
			case *Thought:
				raw = string(p.JSON)
			}
			if err != nil || !strings.Contains(sent, raw) {
				t.Errorf("%s, %s: %v, sent back %s, without %s", test.api, test.name, err, sent, raw)
			}
		}
	}
}

// TestRefusal holds that a refusal is none of the answers.
func TestRefusal(t *testing.T) {
	t.Parallel()
	reply, shown, _, err := served(t, Endpoint{API: Responses}, &Request{}, sse(`{"type":"response.refusal.delta","delta":"I will not"}`,
		`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"refusal","refusal":"I will not"}]}}`, `{"type":"response.completed","response":{"model":"m"}}`))
	if err != nil || reply.Stop != Denied || reply.Message.Said() != "I will not" || shown != "I will not" {
		t.Errorf("%+v, shown %q, %v", reply, shown, err)
	}
}

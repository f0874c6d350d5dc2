package model

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/task"
)

func TestFind(t *testing.T) {
	t.Parallel()
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	tests := []struct {
		name string
		give Search
		spec string
		url  string
		api  API
		key  string
		err  string
	}{
		{name: "known", spec: "openai/gpt-5", give: Search{Getenv: env("OPENAI_API_KEY", "k")}, url: "https://api.openai.com/v1", api: Responses, key: "k"},
		{name: "elsewhere", spec: "anthropic/x", give: Search{Getenv: env("ANTHROPIC_BASE_URL", "http://h:1")}, url: "http://h:1", api: Anthropic},
		{name: "no key", spec: "anthropic/x", give: Search{Getenv: env()}, err: "model anthropic/x: no key: the variable ANTHROPIC_API_KEY is not set"},
		{name: "local", spec: "ollama/q:30b", give: Search{Getenv: env()}, url: "http://127.0.0.1:11434/v1", api: Chat},
		{name: "endpoint", spec: "m", give: Search{Getenv: env("OPENAI_API_KEY", "k"), Endpoint: "http://h/v1"}, url: "http://h/v1", api: Chat},
		// A key is for where it was given for.
		{name: "known name, other endpoint", spec: "openai/m", give: Search{Getenv: env("OPENAI_API_KEY", "k"), Endpoint: "http://h/v1"}, url: "http://h/v1", api: Responses},
		{name: "named key", spec: "openai/m", give: Search{Getenv: env("MINE", "k"), Endpoint: "http://h/v1", KeyEnv: "MINE", API: Anthropic}, url: "http://h/v1", api: Anthropic, key: "k"},
		{name: "named key missing", spec: "m", give: Search{Getenv: env(), Endpoint: "http://h/v1", KeyEnv: "MINE"}, err: "model m: no key: the variable MINE is not set"},
		{name: "guessed", spec: "claude-x", give: Search{Getenv: env("ANTHROPIC_API_KEY", "k")}, url: "https://api.anthropic.com", api: Anthropic, key: "k"},
		{name: "not guessed", spec: "x", give: Search{Getenv: env("ANTHROPIC_API_KEY", "k", "OPENAI_API_KEY", "k")}, err: "names no provider"},
		{name: "unknown", spec: "mine/x", give: Search{Getenv: env()}, err: `unknown provider "mine"; want one of anthropic, cerebras, deepseek, `},
		{name: "a slip", spec: "opnrouter/x", give: Search{Getenv: env()}, err: `did you mean "openrouter"?`},
		{name: "of others", spec: "openrouter/anthropic/claude-x", give: Search{Getenv: env("OPENROUTER_API_KEY", "k")}, url: "https://openrouter.ai/api/v1", api: Chat, key: "k"},
		{name: "of others without a key", spec: "groq/m", give: Search{Getenv: env("OPENAI_API_KEY", "k")}, err: "model groq/m: no key: the variable GROQ_API_KEY is not set"},
		{name: "another local one", spec: "lmstudio/org/m", give: Search{Getenv: env()}, url: "http://127.0.0.1:1234/v1", api: Chat},
		{name: "from a file", spec: "mine/x", give: Search{Getenv: env("K", "s"), More: map[string]Provider{"mine": {BaseURL: "https://h/v1", API: Chat, KeyEnv: "K"}}}, url: "https://h/v1", api: Chat, key: "s"},
		{name: "no API", spec: "mine/x", give: Search{Getenv: env(), More: map[string]Provider{"mine": {BaseURL: "https://h/v1"}}}, url: "https://h/v1", api: Chat},
		{name: "wrong API", spec: "mine/x", give: Search{Getenv: env(), More: map[string]Provider{"mine": {BaseURL: "https://h/v1", API: "x"}}}, err: `unknown API "x"`},
		{name: "models of a known one", spec: "openai/m", give: Search{Getenv: env("OPENAI_API_KEY", "k"), More: map[string]Provider{"openai": {Models: map[string]Facts{"m": {MaxOutput: 7}}}}}, url: "https://api.openai.com/v1", api: Responses, key: "k"},
		{name: "a known one elsewhere", spec: "openai/m", give: Search{Getenv: env("OPENAI_API_KEY", "k"), More: map[string]Provider{"openai": {BaseURL: "http://h/v1"}}}, url: "http://h/v1", api: Responses},
		{name: "no URL", spec: "m", give: Search{Getenv: env(), Endpoint: "ftp://x"}, err: `the endpoint "ftp://x" is not an http or https URL`},
	}
	for _, test := range tests {
		spec, err := roles.ParseSpec(test.spec)
		if err != nil {
			t.Fatal(err)
		}
		test.give.Spec = spec
		got, err := test.give.Find()
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: Find = %v, want %s", test.name, err, test.err)
			}
			continue
		}
		if err != nil || got.URL != test.url || got.API != test.api || got.Key != test.key {
			t.Errorf("%s: Find = %+v, %v", test.name, got, err)
		}
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	s := Search{Spec: roles.Spec{Model: "claude-sonnet-4-5"}}
	if f := s.facts(Provider{}); f.ContextWindow != 200_000 || f.MaxOutput != 32_000 {
		t.Errorf("facts = %+v", f)
	}
	s.Spec.Model = "nobody-knows"
	if f := s.facts(Provider{}); f.ContextWindow != defaultWindow {
		t.Errorf("facts = %+v", f)
	}
	for name, want := range map[string]int64{"gemini-2.5-pro": 1_048_576, "anthropic/claude-opus-4-5": 200_000, "gpt-4.1": 1_047_576, "gpt-4.9": 128_000} {
		if f := (Search{Spec: roles.Spec{Provider: "p", Model: name}}).facts(Provider{}); f.ContextWindow != want {
			t.Errorf("facts(%s) = %+v, want a window of %d", name, f, want)
		}
	}
	if f := s.facts(Provider{Models: map[string]Facts{"nobody-knows": {ContextWindow: 9}}}); f.ContextWindow != 9 {
		t.Errorf("facts = %+v", f)
	}
}

// every is a message with every part there is.
func every() Message {
	return Message{Role: Assistant, Parts: []Part{
		&Text{"a <b> \u2028"}, &Note{"n"}, &Call{ID: "1", Name: "read", Input: json.RawMessage(`{ "b":1, "a":"<" }`)},
		&Result{ID: "1", Text: "t", Bad: true}, &Kept{API: Anthropic, JSON: json.RawMessage(`{"z": 1,"a":[ ]}`)},
	}}
}

func TestMessageTravels(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(every())
	if err != nil {
		t.Fatal(err)
	}
	var got Message
	if err := json.Unmarshal(line, &got); err != nil || !reflect.DeepEqual(got, every()) {
		t.Errorf("read back %+v, %v", got, err)
	}
	for _, bad := range []string{
		`{"role":"system","parts":[]}`, `{"role":"user","parts":[{"type":"image"}]}`,
		`{"role":"user","parts":[{"type":"kept","raw":"{"}]}`, `[]`,
	} {
		if json.Unmarshal([]byte(bad), &got) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		"": "{}", `{"a":1}`: `{"a":1}`, `{"a":`: `{"malformed_input":"{\"a\":"}`, "null": `{"malformed_input":"null"}`, "[1]": `{"malformed_input":"[1]"}`,
	} {
		if got := object(give); string(got) != want {
			t.Errorf("object(%q) = %s, want %s", give, got, want)
		}
	}
}

// TestChatPieces are the ways in which servers cut calls to pieces.
func TestChatPieces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		chunks []string
		want   []Part
	}{
		{"by index", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"pa"}}`,
			`{"index":1,"id":"b","function":{"name":"ls","arguments":""}}`,
			`{"index":0,"function":{"arguments":"th\":\"x\"}"}}`,
		}, []Part{&Call{"a", "read", json.RawMessage(`{"path":"x"}`)}, &Call{"b", "ls", json.RawMessage(`{}`)}}},
		{"one index for all", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`,
			`{"index":0,"id":"b","function":{"name":"ls","arguments":"{}"}}`,
		}, []Part{&Call{"a", "read", json.RawMessage(`{}`)}, &Call{"b", "ls", json.RawMessage(`{}`)}}},
		{"no ids", []string{
			`{"index":0,"function":{"name":"read","arguments":"{}"}}`,
			`{"index":1,"function":{"name":"ls","arguments":"{}"}}`,
		}, []Part{&Call{"call_1", "read", json.RawMessage(`{}`)}, &Call{"call_2", "ls", json.RawMessage(`{}`)}}},
		{"the id again", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`,
			`{"index":0,"id":"a","function":{"arguments":"}"}}`,
		}, []Part{&Call{"a", "read", json.RawMessage(`{}`)}}},
		{"the name again", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`,
			`{"index":0,"id":"","function":{"name":"read","arguments":"}"}}`,
		}, []Part{&Call{"a", "read", json.RawMessage(`{}`)}}},
		{"neither index nor id", []string{
			`{"function":{"name":"read","arguments":"{\"path\":\"x\"}"}}`,
			`{"function":{"name":"read","arguments":"{\"path\":\"y\"}"}}`,
		}, []Part{&Call{"call_1", "read", json.RawMessage(`{"path":"x"}`)}, &Call{"call_2", "read", json.RawMessage(`{"path":"y"}`)}}},
		{"an object", []string{
			`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":{"path":"x"}}}`,
		}, []Part{&Call{"a", "read", json.RawMessage(`{"path":"x"}`)}}},
		{"null", []string{
			`{"index":0,"id":null,"function":{"name":"ls","arguments":null}}`,
		}, []Part{&Call{"call_1", "ls", json.RawMessage(`{}`)}}},
		{"one id for all", []string{
			`{"index":0,"id":"a","function":{"name":"ls","arguments":"{}"}}`,
			`{"index":1,"id":"a","function":{"name":"ls","arguments":"{}"}}`,
		}, []Part{&Call{"a", "ls", json.RawMessage(`{}`)}, &Call{"call_2", "ls", json.RawMessage(`{}`)}}},
	}
	for _, test := range tests {
		r := newChatReply("m", func(string) {})
		for _, c := range test.chunks {
			if _, err := r.add(sseEvent{data: []byte(`{"choices":[{"index":0,"delta":{"tool_calls":[` + c + `]}}]}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.whole().Message.Parts; !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestChatThoughts checks that a model's thoughts, in its text or beside it,
// are neither said nor sent back.
func TestChatThoughts(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{
		{`{"content":"<th"}`, `{"content":"ink>SECRET</thi"}`, `{"content":"nk>\n\nSa"}`, `{"content":"id."}`},
		{`{"reasoning_content":"SECRET"}`, `{"reasoning":"SECRET"}`, `{"reasoning_details":[{"text":"SECRET"}]}`, `{"content":"Said."}`},
	} {
		told := ""
		r := &chatReply{say: func(text string) { told += text }}
		for _, delta := range pieces {
			if _, err := r.add(sseEvent{data: []byte(`{"choices":[{"index":0,"delta":` + delta + `}]}`)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.whole().Message; got.Said() != "Said." || strings.TrimSpace(told) != "Said." || len(got.Parts) != 1 {
			t.Errorf("of %s it is told %q and kept %+v", pieces, told, got.Parts)
		}
	}
}

// TestThoughtsElsewhere is the same of the other two APIs.
func TestThoughtsElsewhere(t *testing.T) {
	t.Parallel()
	const text = "<think>\\nSECRET\\n</think>\\n\\nSaid."
	want := []Part{&Text{"Said."}}
	for api, stream := range map[API]string{
		Anthropic: sse(`{"type":"message_start","message":{"content":[{"type":"text","text":"`+text+`"}]}}`, `{"type":"message_stop"}`),
		Responses: sse(`{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"`+text+`"}]}}`,
			`{"type":"response.completed"}`),
	} {
		reply, _, _, err := served(t, Endpoint{API: api}, &Request{}, stream)
		if err != nil || !reflect.DeepEqual(reply.Message.Parts, want) {
			t.Errorf("%s: %+v, %v", api, reply, err)
		}
	}
}

func TestDisjoint(t *testing.T) {
	t.Parallel()
	if got, want := disjoint(10, 3, 4), (task.Usage{Input: 6, Output: 3, CacheRead: 4}); got != want {
		t.Errorf("disjoint = %+v, want %+v", got, want)
	}
	if got, want := disjoint(1, -1, 9), (task.Usage{CacheRead: 1}); got != want {
		t.Errorf("disjoint = %+v, want %+v", got, want)
	}
}

// moody answers with its errors in order, then well.
type moody struct{ errs []error }

func (m *moody) Ask(context.Context, *Request, func(string)) (*Reply, error) {
	if len(m.errs) == 0 {
		return &Reply{}, nil
	}
	err := m.errs[0]
	m.errs = m.errs[1:]
	return nil, err
}

func TestPatient(t *testing.T) {
	t.Parallel()
	limit := func(after time.Duration) error {
		return &Error{Kind: task.RateLimit, Wait: true, After: after, Text: "limit"}
	}
	gone := &Error{Kind: task.Invalid, Wait: true, Down: true, Text: "down"}
	tests := []struct {
		name  string
		errs  []error
		waits []time.Duration
		err   string
	}{
		{name: "well", waits: nil},
		{name: "backs off", errs: []error{limit(0), limit(0), limit(0)}, waits: []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}},
		{name: "does as told", errs: []error{limit(20 * time.Second)}, waits: []time.Duration{20*time.Second + 250*time.Millisecond}},
		{name: "not for ever", errs: []error{limit(8 * time.Minute), limit(8 * time.Minute)}, waits: []time.Duration{8*time.Minute + 250*time.Millisecond}, err: "limit"},
		{name: "not for a server that is not there", errs: []error{limit(0), limit(0), gone, gone, gone, gone, gone, gone}, waits: []time.Duration{
			750 * time.Millisecond, 1500 * time.Millisecond,
			750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 6 * time.Second, 12 * time.Second,
		}, err: "down"},
		{name: "for one that is started again", errs: []error{gone, gone, limit(0), gone}, waits: []time.Duration{
			750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second, 750 * time.Millisecond,
		}},
		{name: "no use", errs: []error{&Error{Kind: task.Auth, Text: "key"}}, err: "key"},
		{name: "not its own", errs: []error{errors.New("else")}, err: "else"},
	}
	for _, test := range tests {
		var waits, told []time.Duration
		p := &Patient{
			Model: &moody{test.errs},
			Told:  func(_ *Error, d time.Duration) { told = append(told, d) },
			sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
			dice:  func() float64 { return 0.5 },
		}
		_, err := p.Ask(t.Context(), &Request{}, func(string) {})
		if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
			t.Errorf("%s: %v, want %q", test.name, err, test.err)
		}
		if !reflect.DeepEqual(waits, test.waits) || !reflect.DeepEqual(told, test.waits) {
			t.Errorf("%s: waits %v, told %v, want %v", test.name, waits, told, test.waits)
		}
	}
}

// TestPatientEnds holds that a wait ends with its context.
func TestPatientEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	p := &Patient{
		Model: &moody{[]error{&Error{Kind: task.RateLimit, Wait: true, After: time.Minute, Text: "limit"}}},
		Told:  func(*Error, time.Duration) { cancel(stopped) },
	}
	if _, err := p.Ask(ctx, &Request{}, func(string) {}); !errors.Is(err, stopped) {
		t.Errorf("Ask = %v, want %v", err, stopped)
	}
}

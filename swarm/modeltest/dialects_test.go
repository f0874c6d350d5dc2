package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

const secret = "a-key-nobody-keeps"

// question is a request as a test words it; each client says it in its dialect.
type question struct {
	stream  bool
	prompt  string
	results []string // results of earlier calls of "bash"
	schema  bool
	mark    bool // ask for the cache where the API needs it
}

// reply is a client's reading of an answer, in no dialect.
type reply struct {
	Text, Thinking string
	Calls          []string // name and arguments
	Usage          Usage
	Stop           Stop
	Model          string
	Status         int // of an error; 0 for none
	After          string
	Cut            bool // an error without a status
}

func broken(status int, header http.Header) reply {
	if status < 400 {
		return reply{Cut: true}
	}
	return reply{Status: status, After: header.Get("Retry-After")}
}

func commandSchema(t *testing.T) map[string]any {
	t.Helper()
	var is map[string]any
	err := json.Unmarshal([]byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`), &is)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// each runs a test for each dialect, streamed and not.
func each(t *testing.T, test func(t *testing.T, d Dialect, ask func(url string, q question) reply)) {
	t.Helper()
	for d, client := range map[Dialect]func(*testing.T, string, question) reply{
		Anthropic: askAnthropic, Chat: askChat, Responses: askResponses, Gemini: askGemini,
	} {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/stream=%t", d, stream), func(t *testing.T) {
				t.Parallel()
				test(t, d, func(url string, q question) reply {
					q.stream = stream
					return client(t, url, q)
				})
			})
		}
	}
}

const turns = `{
	"rules": [
		{"when": {"user": "say (\\w+)", "results": 0}, "text": ["It is ", "\"{1}\"", "."], "as": "m-2"},
		{"when": {"user": "think"}, "thinking": "Hm.", "text": "So."},
		{"when": {"user": "run (.*)", "results": 0}, "text": "I run it.", "usage": {"input": 100, "output": 7, "cacheRead": 30},
			"calls": [{"name": "{shell}", "args": {"command": "{1}"}}, {"name": "other", "args": {"é": [1, {"a": null}]}}]},
		{"when": {"user": "run", "results": 1, "result": "it (\\w+)"}, "text": "It {1}."},
		{"when": {"user": "run", "results": 2}, "text": "Twice."},
		{"when": {"user": "answer"}, "answer": {"command": "ls"}},
		{"when": {"user": "long"}, "text": "And so", "stop": "length"},
		{"when": {"user": "bad"}, "text": "No.", "stop": "refuse"},
		{"when": {"system": "nothing like it"}, "text": "Never."}
	]
}`

func TestTurns(t *testing.T) {
	t.Parallel()
	script, err := Parse([]byte(turns))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		give question
		want reply
	}{
		{"text in pieces", question{prompt: "say hello"}, reply{Text: `It is "hello".`, Stop: StopEnd, Model: "m-2"}},
		{"thinking", question{prompt: "think"}, reply{Text: "So.", Thinking: "Hm.", Stop: StopEnd, Model: "m"}},
		{"calls", question{prompt: `run echo "é" {2}`}, reply{
			Text: "I run it.", Stop: StopCalls, Model: "m", Usage: Usage{Input: 100, Output: 7, CacheRead: 30},
			Calls: []string{`bash {"command":"echo \"é\" {2}"}`, `other {"é":[1,{"a":null}]}`},
		}},
		{"one result", question{prompt: "run", results: []string{"it worked"}}, reply{Text: "It worked.", Stop: StopEnd, Model: "m"}},
		{"two results", question{prompt: "run", results: []string{"a", "b"}}, reply{Text: "Twice.", Stop: StopEnd, Model: "m"}},
		{"answer", question{prompt: "answer", schema: true}, reply{Text: `{"command": "ls"}`, Stop: StopEnd, Model: "m"}},
		{"too long", question{prompt: "long"}, reply{Text: "And so", Stop: StopLength, Model: "m"}},
		{"refused", question{prompt: "bad"}, reply{Text: "No.", Stop: StopRefuse, Model: "m"}},
		{"no rule", question{prompt: "what else"}, reply{Status: http.StatusBadRequest}},
	}
	each(t, func(t *testing.T, d Dialect, ask func(string, question) reply) {
		s := Start(t, script)
		for _, tt := range tests {
			have := ask(s.URL(), tt.give)
			if tt.want.Usage == (Usage{}) && tt.want.Status == 0 {
				if have.Usage.Input < 10 || have.Usage.Output < 1 {
					t.Errorf("%s: usage = %+v, want an estimate", tt.name, have.Usage)
				}
				have.Usage = Usage{}
			}
			if d == Chat && tt.want.Thinking != "" {
				have.Thinking = tt.want.Thinking // the SDK has no field for it
			}
			if !reflect.DeepEqual(have, tt.want) {
				t.Errorf("%s: reply = %+v, want %+v", tt.name, have, tt.want)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give Turn
		want reply
	}{
		{"401", Turn{Error: &Error{Status: 401}}, reply{Status: 401}},
		{"403", Turn{Error: &Error{Status: 403}}, reply{Status: 403}},
		{"429", Turn{Error: &Error{Status: 429, RetryAfter: Duration(1500 * time.Millisecond)}}, reply{Status: 429, After: "2"}},
		{"quota", Turn{Error: &Error{Status: 429, Quota: true}}, reply{Status: 429}},
		{"500", Turn{Error: &Error{Status: 500}}, reply{Status: 500}},
		{"529", Turn{Error: &Error{Status: 529}}, reply{Status: 529}},
		{"dropped at the start", Turn{Drop: DropStart, Text: Pieces{"a"}}, reply{Cut: true}},
		{"dropped in the middle", Turn{Drop: DropMiddle, Text: Pieces{"a", "b"}}, reply{Cut: true}},
	}
	each(t, func(t *testing.T, _ Dialect, ask func(string, question) reply) {
		var script Script
		for _, tt := range tests {
			script.Rules = append(script.Rules, Rule{When: When{User: "^" + tt.name + "$"}, Turn: tt.give})
		}
		s := Start(t, script)
		for _, tt := range tests {
			if have := ask(s.URL(), question{prompt: tt.name}); !reflect.DeepEqual(have, tt.want) {
				t.Errorf("%s: reply = %+v, want %+v", tt.name, have, tt.want)
			}
		}
		for i, r := range s.Requests() {
			if want := tests[i].want.Status; r.Status != want && !tests[i].want.Cut {
				t.Errorf("%s: recorded status = %d, want %d", tests[i].name, r.Status, want)
			}
		}
	})
}

// TestMidway has an error in a stream that began well; an answer without a
// stream has the status of the error.
func TestMidway(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, _ Dialect, ask func(string, question) reply) {
		s := Start(t, Script{Rules: []Rule{{Turn: Turn{
			Text: Pieces{"a", "b"}, Error: &Error{Status: 529, Midway: true},
		}}}})
		have := ask(s.URL(), question{prompt: "x"})
		want := reply{Cut: true}
		if strings.HasSuffix(t.Name(), "stream=false") {
			want = reply{Status: 529}
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("reply = %+v, want %+v", have, want)
		}
	})
}

// TestQuotaWords checks the words by which a client tells a limit of the minute
// from an empty account.
func TestQuotaWords(t *testing.T) {
	t.Parallel()
	for d, word := range map[dialect]string{
		anthropic{}: "exceeded your current quota", chat{}: `"code":"insufficient_quota"`,
		responses{}: `"type":"insufficient_quota"`, gemini{}: "PerDayPerProject",
	} {
		for _, quota := range []bool{true, false} {
			_, body := d.fault(newFault(&Error{Status: 429, Quota: quota}), nil)
			text, err := json.Marshal(body)
			if err != nil || strings.Contains(string(text), word) != quota {
				t.Errorf("%T.fault(quota %t) = %s, %v, want %s: %t", d, quota, text, err, word, quota)
			}
		}
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, d Dialect, ask func(string, question) reply) {
		s := Start(t, Script{Cache: true, Rules: []Rule{{Turn: Turn{Text: Pieces{"ok"}}}}})
		long := strings.Repeat("words that are the same for all, ", 200)
		first := ask(s.URL(), question{prompt: long, mark: true})
		again := ask(s.URL(), question{prompt: long, results: []string{"r"}, mark: true})
		other := ask(s.URL(), question{prompt: "x" + long, mark: true})
		if first.Usage.CacheRead != 0 || first.Usage.Input < 1000 {
			t.Errorf("usage of the first = %+v, want nothing from the cache", first.Usage)
		}
		if u := again.Usage; u.CacheRead < 1000 || u.Input > 300 {
			t.Errorf("usage of what goes on = %+v, want nearly all from the cache", u)
		}
		if u := other.Usage; u.CacheRead > 200 {
			t.Errorf("usage of another prompt = %+v, want what comes before it from the cache at most", u)
		}
		if d != Anthropic {
			return
		}
		if u := ask(s.URL(), question{prompt: long}).Usage; u.CacheRead != 0 {
			t.Errorf("usage without a mark = %+v, want nothing from the cache", u)
		}
	})
}

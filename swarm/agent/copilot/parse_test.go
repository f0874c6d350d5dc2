package copilot

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
	"agentswarm/swarm/task"
)

func parser() agent.Parser { return Adapter{}.Parser(&agent.Spec{}) }

func read(text []byte, size int) (said []string, used task.Usage) {
	return agenttest.Read(parser(), text, size)
}

// TestRecorded reads the output of the real CLI.
func TestRecorded(t *testing.T) {
	t.Parallel()
	failed := func(retries int, kind, message string) []string {
		all := []string{"session  fake-model", "turn", "retry " + kind + " " + message, "session ? fake-model"}
		return append(append(all, slices.Repeat([]string{all[2]}, retries-1)...), "error "+kind)
	}
	for _, test := range []struct {
		name string
		want []string
		used task.Usage
	}{
		{"edit", []string{
			"session  fake-model", "turn", "text I read hello.txt.", `start view {"path":"hello.txt"}`, "session ? fake-model", `end ok "hello world\n"`,
			"turn", `start edit {"new_str":"hello swarm","old_str":"hello world","path":"hello.txt"}`, `end ok "File /tree/repo/hello.txt updated with changes."`,
			"turn", "text I changed hello.txt.", "answer I changed hello.txt.",
		}, task.Usage{Input: 1150, Output: 60, CacheRead: 2100}},
		{"refused", []string{
			"session  fake-model", "turn", `start bash {"command":"rm -rf sub","description":"scripted"}`,
			`end failed {"message":"Denied by preToolUse hook: no rm here","code":"denied"}`, "session ? fake-model",
			"turn", "text Nothing went wrong.", "answer Nothing went wrong.",
		}, task.Usage{Input: 20, Output: 10}},
		{"fork", []string{"session  fake-model", "turn", "session ? fake-model", "text It was zebra.", "answer It was zebra."},
			task.Usage{Input: 10, Output: 5, CacheRead: 100}},
		{"retried", []string{
			"session  fake-model", "turn", "retry overloaded The server had an error while processing the request.", "session ? fake-model",
			"text Fine.", "answer Fine.",
		}, task.Usage{Input: 10, Output: 5}},
		{"401", failed(2, "auth", "The API key is invalid."), task.Usage{}},
		{"429", failed(5, "rate_limit", "Rate limit reached, please try again later."), task.Usage{}},
		{"quota", failed(5, "quota", "You exceeded your current quota, please check your plan and billing details."), task.Usage{}},
		{"500", failed(5, "overloaded", "The server had an error while processing the request."), task.Usage{}},
		{"drop", failed(5, "overloaded", "Failed native model HTTP request: error sending request for url (http://127.0.0.1:41999/v1/chat/completions): "+
			"client error (SendRequest): connection closed before message completed"), task.Usage{}},
		{"cut", failed(5, "overloaded", "Failed native model HTTP request: error decoding response body: error reading a body from connection: "+
			"unexpected EOF during chunk size line"), task.Usage{}},
		{"nobody", failed(5, "overloaded", "Failed native model HTTP request: error sending request for url (http://127.0.0.1:9/v1/chat/completions): "+
			"client error (Connect): tcp connect error: Connection refused (os error 111) [ECONNREFUSED]"), task.Usage{}},
		// Its exit status is 0 then, and no result follows.
		{"killed", []string{
			"session  fake-model", "turn", `start bash {"command":"sleep 100; true","description":"scripted"}`, "session ? fake-model",
		}, task.Usage{Input: 10, Output: 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agenttest.Recording{Name: test.name, Want: test.want, Used: test.used}.Check(t, parser)
		})
	}
}

// TestLines holds the meaning of lines of other kinds.
func TestLines(t *testing.T) {
	t.Parallel()
	const done = `{"type":"result","sessionId":"s","exitCode":0}`
	for _, test := range []struct{ name, text, want string }{
		{"the prompt", `{"type":"user.message","data":{"content":"x"}}`, ""},
		{"progress", `{"type":"assistant.message_delta","data":{"deltaContent":"x"}}`, ""},
		{"a thought", `{"type":"assistant.reasoning","data":{"content":"x"}}`, ""},
		{"a later event of a known family", `{"type":"session.later","data":{"x":1}}`, ""},
		{"a later family", `{"type":"later"}`, "raw"},
		{"a turn of a subagent", `{"type":"assistant.turn_start","agentId":"a"}` + "\n" + `{"type":"assistant.message","agentId":"a","data":{"content":"x"}}`, ""},
		{"an answer", `{"type":"assistant.message","data":{"content":"Yes."}}` + "\n" + done, "text Yes.|session ? |answer Yes."},
		{"an abort that ends well", `{"type":"abort","data":{"reason":"user_abort"}}` + "\n" + done, "session ? |error other"},
		{"an end without a word", `{"type":"result","sessionId":"s","exitCode":1}`, "session ? |error other"},
		{"a stored error without a status", `{"type":"session.error","data":{"message":"You have exceeded your premium request allowance: usage limit reached","errorType":"quota"}}` +
			"\n" + done, "session ? |error quota"},
		{"an error without its provider's words", `{"type":"model.call_failure","data":{"statusCode":429,"errorMessage":"{\"message\":\"You exceeded your current quota\"}"}}` +
			"\n" + `{"type":"session.error","data":{"message":"Too many requests","statusCode":429}}` + "\n" + done, "retry quota You exceeded your current quota|session ? |error quota"},
		{"a retry without a failure", `{"type":"assistant.turn_retry","data":{"reason":"streaming_error"}}`, "retry other streaming_error"},
		{"a retry of a subagent", `{"type":"assistant.turn_retry","agentId":"a","data":{"reason":"streaming_error"}}`, ""},
		{"a span of a tool", `{"type":"span","name":"execute_tool view","attributes":{"gen_ai.conversation.id":"s","gen_ai.usage.input_tokens":5}}`, ""},
		{"a wrapper's line", "npm warn", "text npm warn"},
		{"an empty line", "", ""},
	} {
		got, _ := read([]byte(test.text+"\n"), 50)
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUsed checks that tokens of the cache are not counted twice, and that no
// count is below zero.
func TestUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give span
		want task.Usage
	}{
		{span{Input: 100, Output: 10, Cached: 60, Written: 30}, task.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 10}},
		{span{Input: 100, Cached: 60, Wrote: 90}, task.Usage{CacheRead: 60, CacheWrite: 40}},
		{span{Input: -1, Output: -1, Cached: -1, Written: -1}, task.Usage{}},
		{span{Input: 5, Cached: 9}, task.Usage{CacheRead: 5}},
	} {
		if got := test.give.usage(); got != test.want {
			t.Errorf("%+v: %+v, want %+v", test.give, got, test.want)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(`{"type":"span","name":"chat","attributes":null}`), 3)
	agenttest.Fuzz(f, parser, "edit", "refused", "401", "killed")
}

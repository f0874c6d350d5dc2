package gemini

import (
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

// TestRecorded reads recorded output of the real CLI.
func TestRecorded(t *testing.T) {
	t.Parallel()
	failed := func(kind string) []string { return []string{"session ? gemini-2.5-pro", "error " + kind} }
	for _, test := range []struct {
		name string
		want []string
		used task.Usage
	}{
		{"edit", []string{
			"session ? gemini-2.5-pro", "turn", "text I read hello.txt.", `start read_file {"file_path":"/tree/repo/hello.txt"}`, `end ok ""`,
			"turn", `start replace {"file_path":"/tree/repo/hello.txt","instruction":"scripted","new_string":"hello swarm","old_string":"hello world"}`, "end ok ",
			"turn", "text I changed hello.txt.", "answer I changed hello.txt.",
		}, task.Usage{Input: 1150, Output: 60, CacheRead: 2100}},
		{"refused", []string{
			"session ? gemini-2.5-pro", "turn", `start run_shell_command {"command":"rm -rf sub"}`,
			`end failed {"type":"policy_violation","message":"Tool execution blocked: no rm here"}`,
			"turn", "text Nothing went wrong.", "answer Nothing went wrong.",
		}, task.Usage{Input: 20, Output: 10}},
		{"fork", []string{"session ? gemini-2.5-pro", "turn", "text It was zebra.", "answer It was zebra."}, task.Usage{Input: 10, Output: 5, CacheRead: 100}},
		{"401", failed("auth"), task.Usage{}},
		{"429", failed("rate_limit"), task.Usage{}},
		{"quota", failed("quota"), task.Usage{}},
		{"500", failed("overloaded"), task.Usage{}},
		{"drop", failed("overloaded"), task.Usage{}},
		{"cut", []string{"session ? gemini-2.5-pro", "turn", "text half ", "error overloaded"}, task.Usage{}},
		// It ends with exit status 0 then, as if all were well.
		{"killed", []string{"session ? gemini-2.5-pro", "turn", `start run_shell_command {"command":"sleep 100; true"}`}, task.Usage{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agenttest.Recording{Name: test.name, Want: test.want, Used: test.used}.Check(t, parser)
		})
	}
}

// TestLines checks the events of lines of other kinds.
func TestLines(t *testing.T) {
	t.Parallel()
	const init = `{"type":"init","session_id":"s","model":"auto"}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"the prompt", `{"type":"message","timestamp":"2026-11-20T23:12:07.688Z","role":"user","content":"x"}`, ""},
		{"the prompt in another order", `{"type":"message","role":"user","content":"x"}`, ""},
		{"a model that was chosen", init + `{"type":"result","status":"success","stats":{"models":{"small":{"total_tokens":5},"big":{"total_tokens":9}}}}`,
			"session ? auto|session ? big|answer "},
		{"one of two alike", init + `{"type":"result","status":"success","stats":{"models":{"b":{"total_tokens":5},"a":{"total_tokens":5}}}}`,
			"session ? auto|session ? a|answer "},
		{"two tools of a turn", `{"type":"tool_use","tool_id":"1","tool_name":"a"}
{"type":"tool_use","tool_id":"2","tool_name":"b"}
{"type":"tool_result","tool_id":"1","status":"success"}
{"type":"tool_result","tool_id":"2","status":"error"}
{"type":"tool_use","tool_id":"3","tool_name":"c"}`, "turn|start a |start b |end ok |end failed |turn|start c "},
		{"a warning", `{"type":"error","severity":"warning","message":"blocked"}
{"type":"result","status":"success"}`, "answer "},
		{"round in circles", `{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}
{"type":"result","status":"success"}`, "error other"},
		{"an error that is called a success", `{"type":"error","severity":"error","message":"Maximum session turns exceeded"}
{"type":"result","status":"success"}`, "error other"},
		{"an empty answer", `{"type":"error","severity":"error","message":"safety filters blocked it"}
{"type":"result","status":"error"}`, "error refused"},
		{"no words", `{"type":"result","status":"error"}`, "error other"},
		{"what a wrapper prints", "npm warn", "text npm warn"},
		{"JSON of somebody", "[1]", "raw"},
		{"a later type", `{"type":"later"}`, "raw"},
		{"what it thinks", `{"type":"thought","subject":"s"}`, ""},
		{"nothing", "", ""},
	} {
		got, _ := read([]byte(test.text+"\n"), 50)
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestUsed checks that thoughts are paid for, and that nothing is less than
// nothing.
func TestUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		give used
		want task.Usage
	}{
		{used{Total: 130, Input: 100, Output: 10, Cached: 60}, task.Usage{Input: 40, CacheRead: 60, Output: 30}},
		{used{Total: 100, Input: 100, Output: 10}, task.Usage{Input: 100, Output: 10}},
		{used{Total: -1, Input: -1, Output: -1, Cached: -1}, task.Usage{}},
		{used{Input: 5, Cached: 9}, task.Usage{CacheRead: 5}},
	} {
		if got := test.give.plain(); got != test.want {
			t.Errorf("%+v: %+v, want %+v", test.give, got, test.want)
		}
	}
}

// TestErred checks the kinds of errors by their words.
func TestErred(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		kind  task.ErrorKind
		after int64
	}{
		{`[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, task.Auth, 0},
		{`[API Error: {"error":{"code": 503,"status":"UNAVAILABLE"}}]`, task.Overloaded, 0},
		{"[API Error: Rate limit reached.\nSuggested retry after 1.5s.]", task.RateLimit, 1500},
		{"Quota exceeded for metric. Please retry in 12s.", task.RateLimit, 12000},
		{"Reached max session turns for this session.", task.Other, 0},
	} {
		if e := erred(test.text); e.Kind != test.kind || e.RetryAfterMS != test.after {
			t.Errorf("%s: %s after %d ms, want %s after %d", test.text, e.Kind, e.RetryAfterMS, test.kind, test.after)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(`{"type":"result","stats":{"models":{"m":null}}}`), 3)
	agenttest.Fuzz(f, parser, "edit", "refused", "401")
}

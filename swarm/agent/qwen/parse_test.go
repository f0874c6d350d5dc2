package qwen

import (
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

func read(spec *agent.Spec, text []byte, size int) (said []string, used task.Usage) {
	return agenttest.Read(Adapter{}.Parser(spec), text, size)
}

// TestRecorded reads recorded output of the real CLI.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const begun = "session ? fake-model"
	failed := func(kind string) []string { return []string{begun, "error " + kind} }
	for _, test := range []struct {
		name  string
		prior task.Usage
		want  []string
		used  task.Usage
	}{
		{"edit", task.Usage{}, []string{
			begun, "turn", "text I read hello.txt.", `start read_file {"file_path":"/tree/repo/hello.txt"}`, `end ok "hello world\nsecond\n"`,
			"turn", `start edit {"file_path":"/tree/repo/hello.txt","new_string":"hello swarm","old_string":"hello world"}`,
			`end ok "The file: /tree/repo/hello.txt has been updated. Showing lines 1-3 of 3 from the edited file:\n\n---\n\nhello swarm\nsecond\n"`,
			"turn", "text I changed hello.txt.", "answer I changed hello.txt.",
		}, task.Usage{Input: 1150, Output: 60, CacheRead: 2100}},
		{"refused", task.Usage{}, []string{
			begun, "turn", `start run_shell_command {"command":"rm -rf sub"}`, `end failed "no rm here"`,
			"turn", "text Nothing went wrong.", "answer Nothing went wrong.",
		}, task.Usage{Input: 20, Output: 10}},
		{"schema", task.Usage{}, []string{
			begun, "turn", `start structured_output {"files":3}`, `end ok "Structured output accepted."`, `answer {"files":3}{"files":3}`,
		}, task.Usage{Input: 10, Output: 5}},
		// The result counts the parent's usage once more.
		{"fork", task.Usage{Input: 10, Output: 5}, []string{begun, "turn", "text It was zebra.", "answer It was zebra."},
			task.Usage{Input: 10, Output: 5, CacheRead: 100}},
		{"401", task.Usage{}, failed("auth"), task.Usage{}},
		{"429", task.Usage{}, failed("rate_limit"), task.Usage{}},
		{"quota", task.Usage{}, failed("quota"), task.Usage{}},
		{"500", task.Usage{}, failed("overloaded"), task.Usage{}},
		// It continues where the connection was cut, and joins the texts.
		{"cut", task.Usage{}, []string{
			begun, "retry overloaded retry", "turn", "text half Nothing went wrong.", "answer half Nothing went wrong.",
		}, task.Usage{Input: 10, Output: 5}},
		{"killed", task.Usage{}, []string{
			begun, "turn", `start run_shell_command {"command":"tail -f /dev/null"}`,
			`end failed "[Operation Cancelled] Reason: The tool had already completed; its output was discarded. ` +
				`User intentionally cancelled. Stop and await further instructions; do not retry."`,
		}, task.Usage{Input: 10, Output: 5}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agenttest.Recording{Name: test.name, Want: test.want, Used: test.used}.Check(t, func() agent.Parser { return Adapter{}.Parser(&agent.Spec{Prior: test.prior}) })
		})
	}
}

// TestLines checks the events of lines of other kinds.
func TestLines(t *testing.T) {
	t.Parallel()
	said := func(text string) string {
		return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}`
	}
	for _, test := range []struct{ name, text, want string }{
		{"a wait", `{"type":"system","subtype":"retry","data":{"reason":"retry","attempt":2,"delayMs":500}}`, "retry rate_limit retry, attempt 2"},
		{"progress", `{"type":"stream_event","event":{}}`, ""},
		{"words of somebody", `{"type":"user","message":{"content":"words"}}`, ""},
		{"a helper", `{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"a helper"}]}}`, ""},
		{"another model", `{"type":"assistant","session_id":"abcd","message":{"model":"other","content":[]}}`, "turn|session  other"},
		{"no usage", said("a") + "\n" + said("b"), "turn|text a|text b"},
		{"the words of an error", said("[API Error: x]"), ""},
		{"an error", `{"type":"result","is_error":true,"error":{"message":"[API Error: Status: 503 busy]"}}`, "error overloaded"},
		{"an error without words", `{"type":"result","subtype":"error_during_execution","is_error":true}`, "error other"},
		{"text in place of an object", `{"type":"result","is_error":true,"error":{"message":"Model produced plain text instead of calling the structured_output tool as required by --json-schema after 2 turn(s)."}}`, "error schema"},
		{"an error in another shape", `{"type":"result","is_error":"yes","result":"r"}`, "error other"},
		{"odd numbers", `{"type":"result","is_error":false,"result":"r","usage":{"input_tokens":1.5,"output_tokens":1e99}}`, "answer r"},
		{"no schema", `{"type":"result","is_error":false,"result":"r","structured_result":null}`, "answer r"},
		{"what a wrapper prints", "npm warn", "text npm warn"},
		{"JSON of somebody", "[1]", "raw"},
		{"a later type", `{"type":"thought"}`, "raw"},
		{"nothing", "", ""},
	} {
		got, _ := read(&agent.Spec{}, []byte(test.text+"\n"), 50)
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestRest checks that a result reports only the usage that messages have not
// reported.
func TestRest(t *testing.T) {
	t.Parallel()
	const message = `{"type":"assistant","message":{"content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":3}}}` + "\n"
	const result = `{"type":"result","usage":{"input_tokens":25,"cache_read_input_tokens":4,"output_tokens":2}}` + "\n"
	_, used := read(&agent.Spec{Prior: task.Usage{Input: 5}}, []byte(message+result), 100)
	if want := (task.Usage{Input: 16, CacheRead: 4, Output: 3}); used != want {
		t.Errorf("it used %+v, want %+v", used, want)
	}
}

func FuzzParser(f *testing.F) {
	agenttest.Fuzz(f, func() agent.Parser { return Adapter{}.Parser(&agent.Spec{}) }, "edit", "cut", "401")
}

// TestRetries checks that a retry says why it is made, and that an answer whose
// stream was joined with its retry says so.
func TestRetries(t *testing.T) {
	t.Parallel()
	const result = `{"type":"result","subtype":"success","is_error":false,"result":"half and half"}` + "\n"
	for _, test := range []struct {
		name, retry string
		kind        task.ErrorKind
		joined      bool
	}{
		{"cut", `{"reason":"retry"}`, task.Overloaded, true},
		{"slow", `{"reason":"429 Too Many Requests","attempt":1,"delayMs":1000}`, task.RateLimit, false},
		{"quota", `{"reason":"429 You exceeded your current quota","attempt":1,"delayMs":1000}`, task.Quota, false},
	} {
		all := Adapter{}.Parser(&agent.Spec{}).Feed([]byte(`{"type":"system","subtype":"retry","data":` + test.retry + "}\n" + result))
		if len(all) != 2 {
			t.Fatalf("%s: %d events, want two", test.name, len(all))
		}
		again, isRetry := all[0].(*event.Retry)
		answer, isAnswer := all[1].(*event.Answered)
		if !isRetry || !isAnswer || again.Kind != test.kind || answer.Joined != test.joined {
			t.Errorf("%s: %+v, %+v", test.name, all[0], all[1])
		}
	}
}

package opencode

import (
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/agenttest"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

func parser() agent.Parser { return Adapter{}.Parser(&agent.Spec{Model: "fake/fake-model"}) }

func read(text []byte, size int) (said []string, used task.Usage) {
	return agenttest.Read(parser(), text, size)
}

// TestRecorded reads recorded output of the real CLI.
func TestRecorded(t *testing.T) {
	t.Parallel()
	const begun = "session ? fake/fake-model"
	again := func(kind, message string) []string {
		return []string{begun, "retry " + kind + " " + message, "error " + kind}
	}
	const lost = "Cannot connect to API: The socket connection was closed unexpectedly. " +
		"For more information, pass `verbose: true` in the second argument to fetch()"
	for _, test := range []struct {
		name string
		want []string
		used task.Usage
	}{
		{"edit", []string{
			begun, "turn", "text I read hello.txt.", `start read {"filePath":"/tree/repo/hello.txt"}`,
			`end ok "<path>/tree/repo/hello.txt</path>\n<type>file</type>\n<content>\n1: hello world\n2: second\n\n(End of file - total 2 lines)\n</content>"`,
			"turn", `start edit {"filePath":"/tree/repo/hello.txt","newString":"hello swarm","oldString":"hello world"}`, `end ok "Edit applied successfully."`,
			"turn", "text I changed hello.txt.", "answer I changed hello.txt.",
		}, task.Usage{Input: 1150, Output: 60, CacheRead: 2100, CostUSD: 0.00498}},
		{"refused", []string{
			begun, "turn", `start bash {"command":"rm -rf sub"}`, `end failed "no rm here"`,
			"turn", "text Nothing went wrong.", "answer Nothing went wrong.",
		}, task.Usage{Input: 20, Output: 10, CostUSD: 0.00021}},
		{"fork", []string{begun, "turn", "text It was zebra.", "answer It was zebra."},
			task.Usage{Input: 10, Output: 5, CacheRead: 100, CostUSD: 0.000135}},
		{"elsewhere", []string{"error invalid"}, task.Usage{}},
		{"401", []string{begun, "error auth"}, task.Usage{}},
		{"429", again("rate_limit", "Rate limit reached, please try again later."), task.Usage{}},
		{"quota", again("quota", "You exceeded your current quota, please check your plan and billing details."), task.Usage{}},
		{"500", again("overloaded", "The server had an error while processing the request."), task.Usage{}},
		{"drop", again("overloaded", lost), task.Usage{}},
		{"cut", again("overloaded", lost), task.Usage{}},
		{"killed", []string{begun, "turn"}, task.Usage{}},
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
	const start, stop = `{"type":"step_start"}` + "\n", `{"type":"step_finish","part":{"reason":"stop"}}` + "\n"
	said := func(text string) string { return `{"type":"text","part":{"text":"` + text + `"}}` + "\n" }
	finish := func(reason string) string { return `{"type":"step_finish","part":{"reason":"` + reason + `"}}` + "\n" }
	for _, test := range []struct{ name, text, want string }{
		{"two texts", start + said("a") + said("b") + stop, "turn|text a|text b|answer ab"},
		{"a step that stopped and was not the last", start + said("a") + stop + start, "turn|text a|turn"},
		{"an error after a stop", start + stop + `{"type":"error","error":{"name":"UnknownError"}}`, "turn|error other"},
		{"it waits for its tools", start + finish("tool-calls"), "turn"},
		{"it rejected a question", start + said("a"), "turn|text a"},
		{"too long", start + finish("length"), "turn|error other"},
		{"a filter", start + finish("content-filter"), "turn|error refused"},
		{"a key that is not there", `{"type":"error","error":{"name":"ProviderAuthError","data":{"message":"no"}}}`, "error auth"},
		{"too much", `{"type":"error","error":{"name":"ContextOverflowError"}}`, "error invalid"},
		{"a status", `{"type":"error","error":{"name":"APIError","data":{"message":"x","statusCode":503}}}`, "error overloaded"},
		{"thoughts", `{"type":"reasoning","part":{"text":"x"}}`, ""},
		{"a tool that failed", `{"type":"tool_use","part":{"tool":"t","callID":"c","state":{"status":"error","input":{},"error":"e"}}}`, `start t {}|end failed "e"`},
		{"what a wrapper prints", "npm warn", "text npm warn"},
		{"JSON of somebody", "[1]", "raw"},
		{"a later type", `{"type":"thought"}`, "raw"},
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
	for give, want := range map[string]task.Usage{
		`{"reason":"stop","cost":0.5,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}`: {
			Input: 1, Output: 5, CacheRead: 4, CacheWrite: 5, CostUSD: 0.5},
		`{"reason":"stop","cost":-1,"tokens":{"input":-1,"output":-2,"reasoning":3,"cache":{"read":-4,"write":-5}}}`: {Output: 3},
	} {
		if _, got := read([]byte(`{"type":"step_finish","part":`+give+"}\n"), 100); got != want {
			t.Errorf("%s: %+v, want %+v", give, got, want)
		}
	}
}

// TestRetryDelay checks that a retry tells how long opencode waits before it.
func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]int64{`1500`: 1500, `0`: 0, `-1`: 0, `1e300`: 1e12} {
		all := parser().Feed([]byte(`{"type":"retry","message":"slow down","delayMs":` + give + "}\n"))
		if len(all) != 1 || all[0].(*event.Retry).RetryAfterMS != want {
			t.Errorf("%s: %+v, want a retry after %d ms", give, all, want)
		}
	}
}

func FuzzParser(f *testing.F) {
	agenttest.Fuzz(f, parser, "edit", "refused", "429")
}

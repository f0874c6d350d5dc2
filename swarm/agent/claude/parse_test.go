package claude

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
	failed := func(kind string) []string { return []string{"session ? fake-model", "error " + kind} }
	for _, test := range []struct {
		name  string
		prior float64
		want  []string
		used  task.Usage
	}{
		{"edit", 0, []string{
			"session ? fake-model", "turn", "text I read hello.txt.", `start Read {"file_path":"/tree/repo/hello.txt"}`,
			`end ok "1\thello world\n2\tsecond\n3\t"`,
			"turn", `start Edit {"replace_all":false,"file_path":"/tree/repo/hello.txt","old_string":"hello world","new_string":"hello swarm"}`,
			`end ok "The file /tree/repo/hello.txt has been updated successfully. (file state is current in your context — no need to Read it back)"`,
			"turn", "text I changed hello.txt.", "answer I changed hello.txt.",
		}, task.Usage{Input: 1150, Output: 60, CacheRead: 2100}},
		{"schema", 0, []string{
			"session ? fake-model", "turn", `start StructuredOutput {"files":3}`, `end ok "Structured output provided successfully"`, `answer {"files":3}{"files":3}`,
		}, task.Usage{Input: 12274, Output: 6}},
		{"fork", 0.0006, []string{"session ? fake-model", "turn", "text It was zebra.", "answer It was zebra."}, task.Usage{Input: 10, Output: 5, CacheRead: 100}},
		{"401", 0, failed("auth"), task.Usage{}},
		{"429", 0, failed("rate_limit"), task.Usage{}},
		{"500", 0, failed("overloaded"), task.Usage{}},
		{"quota", 0, failed("quota"), task.Usage{}},
		{"refused", 0, failed("overloaded"), task.Usage{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agenttest.Recording{Name: test.name, Want: test.want, Used: test.used}.Check(t, func() agent.Parser { return Adapter{}.Parser(&agent.Spec{Prior: task.Usage{CostUSD: test.prior}}) })
		})
	}
}

// TestCost checks that the cost counts from the end of a fork's parent, and
// that a guessed cost is dropped.
func TestCost(t *testing.T) {
	t.Parallel()
	result := func(cost, basis string) string {
		return `{"type":"result","total_cost_usd":` + cost + `,"model_usage_since_last_result":{"m":{"outputTokens":4,"costBasis":"` + basis + `"}}}` + "\n"
	}
	for _, test := range []struct {
		name  string
		prior task.Usage
		text  string
		want  float64
	}{
		{"one", task.Usage{}, result("0.5", "list"), 0.5},
		{"two", task.Usage{}, result("0.5", "list") + result("0.75", "list"), 0.75},
		{"a fork", task.Usage{CostUSD: 0.25}, result("0.75", "list"), 0.5},
		{"a fork of what was computed", task.Usage{CostUSD: 0.5, ComputedUSD: 0.5}, result("0.75", "list"), 0.75},
		{"a guess", task.Usage{}, result("0.5", "unknown"), 0},
	} {
		if _, used := read(&agent.Spec{Prior: test.prior}, []byte(test.text), 100); used.CostUSD != test.want {
			t.Errorf("%s: it cost %g, want %g", test.name, used.CostUSD, test.want)
		}
	}
}

// TestCostOnce checks that the total cost of a result does not count beside the
// computed costs of its parts.
func TestCostOnce(t *testing.T) {
	t.Parallel()
	price := func(model string, u task.Usage) (float64, bool) { return float64(u.Output), model != "unknown" }
	delta := `{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":2}}}` + "\n"
	result := func(cost, basis string) string {
		return `{"type":"result","total_cost_usd":` + cost + `,"model_usage_since_last_result":{"m":{"outputTokens":4,"costBasis":"` + basis + `"}}}` + "\n"
	}
	unknown := `{"type":"system","subtype":"init","model":"unknown"}` + "\n"
	for _, test := range []struct {
		name, text      string
		costs, computed float64
		unpriced        int64
	}{
		{"told at the end", delta + delta + result("0.5", "list"), 0.5, 0, 0},
		{"twice", delta + delta + result("0.5", "list") + delta + delta + result("0.75", "list"), 0.75, 0, 0},
		{"a part is not streamed", delta + result("0.5", "list"), 0.5, 0, 0},
		{"not told", delta + delta + result("0.5", "unknown"), 4, 4, 0},
		{"not yet", delta + delta, 4, 4, 0},
		{"nobody knows yet", unknown + delta + delta, 0, 0, 4},
		{"nobody knows", unknown + delta + result("0", "unknown"), 0, 0, 4},
		{"told of what nobody knew", unknown + delta + result("0.5", "list"), 0.5, 0, 0},
		{"a part that nobody knows", delta + unknown + delta, 2, 2, 2},
	} {
		parser := agent.Priced(Adapter{}, price).Parser(&agent.Spec{})
		var used task.Usage
		for _, e := range append(parser.Feed([]byte(test.text)), parser.End()...) {
			if spent, ok := e.(*event.Spent); ok {
				used.Add(spent.Usage)
			}
		}
		if used.CostUSD != test.costs || used.ComputedUSD != test.computed || used.UnpricedTokens != test.unpriced {
			t.Errorf("%s: it cost %g, of which %g computed, and %d tokens have no price; want %g, %g and %d",
				test.name, used.CostUSD, used.ComputedUSD, used.UnpricedTokens, test.costs, test.computed, test.unpriced)
		}
	}
}

// TestLines checks the events of lines of other kinds.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{`{"type":"system","subtype":"api_retry","attempt":1,"error_status":529,"error":"overloaded","retry_delay_ms":500}`, "retry overloaded overloaded, attempt 1"},
		{`{"type":"system","subtype":"status"}`, ""},
		{`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"text":"x"}}}`, ""},
		{`{"type":"user","message":{"content":"words"}}`, ""},
		{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true}]}}`, "end failed "},
		{`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"m","content":[{"type":"text","text":"a helper"}]}}`, ""},
		{`{"type":"assistant","session_id":"abcd","message":{"id":"m","model":"other","content":[]}}`, "turn|session ? other"},
		{`{"type":"result","is_error":true,"subtype":"error_during_execution","errors":["boom"]}`, "error other"},
		{`{"type":"result","result":"r","total_cost_usd":"1","model_usage_since_last_result":{"m":{"inputTokens":1.5}}}`, "answer r"},
		{`{"type":"result","is_error":"yes","result":"r"}`, "error other"},
		{"npm warn", "text npm warn"},
		{`[1]`, "raw"},
		{"", ""},
	} {
		got, _ := read(&agent.Spec{}, []byte(test.line+"\n"), 50)
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(`{"type":"result","model_usage_since_last_result":{"m":null}}`), 3)
	agenttest.Fuzz(f, func() agent.Parser { return Adapter{}.Parser(&agent.Spec{}) }, "edit", "schema", "401")
}

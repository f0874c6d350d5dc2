package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/task"
)

func TestRetriesOfACall(t *testing.T) {
	t.Parallel()
	none, two := 0, 2
	for _, test := range []struct {
		run  int
		call *int
		want int
	}{{0, &two, 3}, {2, &none, 1}, {2, nil, 3}} {
		r := newRig(t)
		r.config.Retries = test.run
		call := failing(r, "overloaded")
		call.Retries = test.call
		is(t, "attempts", r.play(call)["a1"].Result.Done().Attempts, test.want)
	}
}

func TestCheckCall(t *testing.T) {
	t.Parallel()
	less := -1
	for _, test := range []struct {
		name string
		make func(*task.Call)
		want string // of an agent with jsonl; empty: taken
		text string // of an agent with text; empty: the same
	}{
		{"plain", func(*task.Call) {}, "", ""},
		{"turns", func(c *task.Call) { c.Limits.Turns = 1 }, "", `limits.turns: agent "mine" does not show its turns: it has format = "text", not "jsonl"`},
		{"tokens", func(c *task.Call) { c.Limits.Tokens = 1 }, "", "limits.tokens: agent"},
		{"usd", func(c *task.Call) { c.Limits.USD = 0.1 }, "", "limits.usd: agent"},
		{"idle", func(c *task.Call) { c.Limits.Idle = 1 }, "", ""},
		{"stopWhen", func(c *task.Call) { c.StopWhen = "f" }, "", "stopWhen: agent"},
		{"onTool", func(c *task.Call) { c.OnTool = "f" }, "", "onTool: agent"},
		{"schema", func(c *task.Call) { c.Schema = json.RawMessage(oneNumber) }, "", ""},
		{"no schema", func(c *task.Call) { c.Schema = json.RawMessage(`{"type":"string"}`) }, "schema: the schema must ask for an object", ""},
		{"allow", func(c *task.Call) { c.Allow = []string{"push to feature/*"} }, "", ""},
		{"no item", func(c *task.Call) { c.Allow = []string{"push to x", "do as you like"} }, `allow: "do as you like": it begins with none of push, `, ""},
		{"turns below 0", func(c *task.Call) { c.Limits.Turns = -1 }, "limits.turns: must be", ""},
		{"tokens below 0", func(c *task.Call) { c.Limits.Tokens = -1 }, "limits.tokens: must be", ""},
		{"usd below 0", func(c *task.Call) { c.Limits.USD = -1 }, "limits.usd: must be", ""},
		{"ms below 0", func(c *task.Call) { c.Timeout = -1 }, "limits.ms: must be", ""},
		{"idle below 0", func(c *task.Call) { c.Limits.Idle = -1 }, "limits.idleMs: must be", ""},
		{"retries below 0", func(c *task.Call) { c.Retries = &less }, "retries: must be", ""},
	} {
		for format, want := range map[agent.Format]string{agent.FormatJSONL: test.want, agent.FormatText: test.text} {
			if want == "" {
				want = test.want
			}
			c := Config{Agents: specs("mine", "true")}
			c.Agents["mine"].Format = format
			call := mine()
			test.make(call)
			err := CheckCall(c, call)
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, %s: CheckCall = %v, want %q", test.name, format, err, want)
			}
		}
	}
	c := Config{Agents: specs("mine", "true")}
	c.Agents["mine"].Input = agent.InputStdin
	call := mine()
	call.OnTool = "f"
	if err := CheckCall(c, call); err == nil || !strings.HasPrefix(err.Error(), `onTool: agent "mine" cannot be told`) {
		t.Errorf("of an agent whose stdin ends: %v", err)
	}
}

// TestStartRefuses holds that nothing is begun of calls of which one could
// not be carried out.
func TestStartRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", question)
	e := Open(t.Context(), r.deps, r.config, nil)
	for _, test := range []struct {
		make func(*task.Call)
		want string
	}{
		{func(c *task.Call) { c.Schema = json.RawMessage(`{}`) }, "schema: "},
		{func(c *task.Call) { c.StopWhen = "f" }, "stopWhen: functions cannot be run here"},
		{func(c *task.Call) { c.OnTool = "f" }, "onTool: functions cannot be run here"},
		{func(c *task.Call) { c.Limits.Turns = -1 }, "limits.turns: "},
	} {
		call := mine()
		test.make(call)
		if _, err := e.StartAll([]*task.Call{sh("true"), call}); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("StartAll = %v, want %s", err, test.want)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "calls", len(r.view().Agents), 0)
}

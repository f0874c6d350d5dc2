package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
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
		r.hurry()
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
			err := CheckCall(c, nil, call)
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, %s: CheckCall = %v, want %q", test.name, format, err, want)
			}
		}
	}
	c := Config{Agents: specs("mine", "true")}
	c.Agents["mine"].Input = agent.InputStdin
	call := mine()
	call.OnTool = "f"
	if err := CheckCall(c, nil, call); err == nil || !strings.HasPrefix(err.Error(), `onTool: agent "mine" takes no answers`) {
		t.Errorf("of an agent whose stdin ends: %v", err)
	}
}

// TestStartRefuses checks that no call of a list begins if the engine refuses
// any of them.
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

// TestCheckChoices checks that an option unknown to a kind is refused by name.
func TestCheckChoices(t *testing.T) {
	t.Parallel()
	all := agent.Abilities{Model: true, Effort: true, Thinking: true, Tools: true, ReadOnly: true, Fork: true}
	kinds := map[string]agent.Kind{
		"pi":   {Name: "pi", Can: all},
		"qwen": {Name: "qwen"},
	}
	for _, test := range []struct {
		name string
		make func(*task.Call)
		cmd  string // said of a command
		not  string // said of a kind that cannot
		can  string // the error of a kind that knows the option
	}{
		{"model", func(c *task.Call) { c.Model = "a/b" }, "model: agent mine is a command; put the model into its command",
			"model: agent mine is of the kind qwen, which has no option for the model", ""},
		{"effort", func(c *task.Call) { c.Effort = "low" }, "effort: agent mine is a command; put the effort into its command",
			"effort: agent mine is of the kind qwen, which has no option for the effort", ""},
		{"thinking", func(c *task.Call) { c.MaxThinking = 2000 }, "max_thinking_tokens: agent mine is a command; put the limit of thinking tokens into its command",
			"max_thinking_tokens: agent mine is of the kind qwen, which has no option for the limit of thinking tokens", ""},
		{"thinking of a script", func(c *task.Call) { c.MaxThinking, c.Script = 2000, true }, "maxThinkingTokens: ", "maxThinkingTokens: ", ""},
		{"less than nothing", func(c *task.Call) { c.MaxThinking = -1 }, "max_thinking_tokens: -1", "max_thinking_tokens: -1", "max_thinking_tokens: -1 is below 0"},
		{"tools", func(c *task.Call) { c.Tools = []string{"read", "bash"} }, "tools: agent mine is a command; put the list of tools into its command",
			"tools: agent mine is of the kind qwen, which has no option for the list of tools", ""},
		{"read only", func(c *task.Call) { c.ReadOnly = true }, "read_only: agent mine is a command; put the read-only mode into its command",
			"read_only: agent mine is of the kind qwen, which has no option for the read-only mode", ""},
		{"fork", func(c *task.Call) { c.Input = &task.ForkAgentInput{Parent: "a1", Prompt: "p"} }, "fork: agent mine is a command; put the conversation to continue into its command",
			"fork: agent mine is of the kind qwen, which has no option for the conversation to continue", ""},
		{"a flag for a model", func(c *task.Call) { c.Model = "--yolo" }, "model: \"--yolo\" is not a word", "model: \"--yolo\" is not a word", "model: \"--yolo\" is not a word without spaces that does not begin with -"},
		{"an effort of two words", func(c *task.Call) { c.Effort = "a b" }, "effort: ", "effort: ", "effort: \"a b\" is not a word without spaces that does not begin with -"},
		{"an unknown tool", func(c *task.Call) { c.Tools = []string{"read", "Fly"} }, "tools: ", "tools: ", `tools: there is no tool "Fly"; the tools are read, grep, `},
		{"a tool by another name", func(c *task.Call) { c.Tools = []string{"read", "Bash"} }, "tools: ", "tools: ", `tools: "Bash" is written "bash" here`},
		{"a part of a tool", func(c *task.Call) { c.Tools = []string{"bash(git log *)"} }, "tools: ", "tools: ",
			"tools: agents of the kind pi have no option for bash(git log *)"},
		{"a tool that its kind has not", func(c *task.Call) { c.Tools = []string{"read", "WebSearch"} }, "tools: ", "tools: ",
			"tools: agents of the kind pi have no option for WebSearch"},
		{"a tool taken away", func(c *task.Call) { c.Without = []string{"bash"} }, "disallowedTools: ", "disallowedTools: ",
			"tools: agents of the kind pi have no option for bash"},
		{"a reader that writes", func(c *task.Call) { c.ReadOnly, c.Tools = true, []string{"read", "edit"} }, "tools: agent mine is a command", "tools: agent mine is of the kind",
			`tools: agent mine is read-only, and "edit" is not among ["read" "grep" "find" "ls"]`},
	} {
		for kind, want := range map[string]string{agent.KindCommand: test.cmd, "qwen": test.not, "pi": test.can} {
			c := Config{Agents: specs("mine", "true")}
			c.Agents["mine"].Kind = kind
			call := mine()
			test.make(call)
			err := CheckCall(c, kinds, call)
			if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s, kind %s: CheckCall = %v, want %q", test.name, kind, err, want)
			}
		}
	}
	call := sh("true")
	call.Model = "m"
	if err := CheckCall(Config{}, kinds, call); err == nil || !strings.HasPrefix(err.Error(), "model: a command that comes with the call has no option for it") {
		t.Errorf("CheckCall of a command after -- = %v", err)
	}
	c := Config{Agents: specs("mine", "true")}
	c.Agents["mine"].Kind, c.Agents["mine"].ReadOnly = "pi", true
	call = mine()
	call.Tools = []string{"bash"}
	if err := CheckCall(c, kinds, call); err == nil || !strings.HasPrefix(err.Error(), `tools: agent mine is read-only, and "bash"`) {
		t.Errorf("CheckCall of a tool that the agent must not have = %v", err)
	}
	c.Agents["mine"].Kind = "codex"
	call.Tools, call.Model = nil, "m"
	if err := CheckCall(c, kinds, call); err == nil || !strings.Contains(err.Error(), "the kind codex, which this version does not drive") {
		t.Errorf("CheckCall of a kind that is not there = %v", err)
	}
}

// TestSpecOf checks that a call's options win over those of its agent, except
// that they do not lift its read-only mode.
func TestSpecOf(t *testing.T) {
	t.Parallel()
	configured := agent.Spec{Kind: "pi", Model: "big", Effort: "high", Tools: []string{"read", "bash"}, Turns: 9}
	reader := configured
	reader.ReadOnly = true
	writer := reader
	writer.Tools = []string{"bash"}
	for _, test := range []struct {
		name       string
		give, want agent.Spec
		call       task.Options
		turns      int
	}{
		{"nothing", configured, configured, task.Options{}, 0},
		{"all", configured, agent.Spec{Kind: "pi", Model: "small", Effort: "low", Tools: []string{"ls"}, Turns: 3},
			task.Options{Model: "small", Effort: "low", Tools: []string{"ls"}}, 3},
		{"read only", configured, agent.Spec{Kind: "pi", Model: "big", Effort: "high", Tools: []string{"read"}, ReadOnly: true, Turns: 9},
			task.Options{ReadOnly: true}, 0},
		{"a reader stays one", reader, agent.Spec{Kind: "pi", Model: "m", Effort: "high", Tools: []string{"read"}, ReadOnly: true, Turns: 9},
			task.Options{Model: "m"}, 0},
		{"a reader whose tools all write", writer, agent.Spec{Kind: "pi", Model: "big", Effort: "high", Tools: agent.ReadOnlyTools(), ReadOnly: true, Turns: 9},
			task.Options{}, 0},
	} {
		give := test.give
		call := mine()
		call.Options, call.Limits.Turns = test.call, test.turns
		got := SpecOf(Config{Agents: map[string]*agent.Spec{"mine": &give}}, call)
		if !reflect.DeepEqual(*got, test.want) {
			t.Errorf("%s: SpecOf = %+v, want %+v", test.name, *got, test.want)
		}
		if !reflect.DeepEqual(give, test.give) {
			t.Errorf("%s: SpecOf changed what is configured to %+v", test.name, give)
		}
	}
}

// TestForks checks that only the conversation of a completed agent is
// continued, and only by a fork with the same agent.
func TestForks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Agents = specs("mine", `echo '{"type":"session","id":"s"}'; echo '{"type":"result","text":"done"}'`)
	other := *r.config.Agents["mine"]
	other.Name = "other"
	r.config.Agents["other"] = &other
	r.config.Agents["mine"].Kind, other.Kind = "pi", "pi"
	r.deps.Kinds["pi"] = agent.Kind{Name: "pi", Adapter: command.Adapter{}, Can: agent.Abilities{Fork: true}}
	e := Open(t.Context(), r.deps, r.config, nil)
	fork := func(parent task.ID, name string) *task.Call {
		call := mine()
		call.Agent, call.Input = name, &task.ForkAgentInput{Parent: parent, Prompt: "and then"}
		return call
	}
	wait := func(id task.ID) task.Result {
		for {
			// The news of an agent may have come during the wait for another.
			for _, a := range r.view().Agents {
				if a.ID == id && a.Result() != nil {
					return a.Result()
				}
			}
			<-e.News()
		}
	}
	failed := sh("false")
	ids, err := e.StartAll([]*task.Call{mine(), failed})
	if err != nil {
		t.Fatal(err)
	}
	wait(ids[0])
	wait(ids[1])
	for name, test := range map[string]struct {
		give *task.Call
		want string
	}{
		"none":    {fork("a9", "mine"), "fork: there is no agent a9"},
		"failed":  {fork("a2", "mine"), "fork: a2 has not completed"},
		"another": {fork("a1", "other"), "fork: a1 is an agent mine, and its conversation is not that of an agent other"},
	} {
		if _, err := e.Start(test.give); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: Start = %v, want %s", name, err, test.want)
		}
	}
	id, err := e.Start(fork("a1", "mine"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := wait(id).(*task.Completed); !ok {
		t.Errorf("the fork ended with %+v", wait(id))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCheckKeepsConversation: a check of the work takes neither the conversation nor the
// model from it.
func TestCheckKeepsConversation(t *testing.T) {
	t.Parallel()
	for _, verify := range []string{"true", "false"} {
		t.Run(verify, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", `touch made; echo '{"type":"session","id":"s","model":"m"}'
				echo '{"type":"usage","input":7}'; echo '{"type":"result","text":"done"}'`)
			r.config.Agents["mine"].Kind, r.config.Verify = "pi", verify
			r.deps.Kinds["pi"] = agent.Kind{Name: "pi", Adapter: command.Adapter{}, Can: agent.Abilities{Fork: true}}
			settled := r.play(mine())["a1"]
			is(t, "result", word(settled.Result), "completed done, verified "+verify)
			work := settled.Result.Done()
			is(t, "session", work.Session, "s")
			is(t, "model", work.Model, "m")
			is(t, "used", work.Conversation.Input, 7)
		})
	}
}

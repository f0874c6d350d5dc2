package workflow

import (
	"reflect"
	"testing"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// TestOptionsOfCalls: the options of a call win over those of its type, and
// these over those of the run. A fork has the options of its parent.
func TestOptionsOfCalls(t *testing.T) {
	t.Parallel()
	d := newDriver(Request{Config: Config{
		Agent: "pi", Agents: []string{"pi", "qwen"}, Options: task.Options{Model: "run", Effort: "high"},
		Types: map[string]Type{"scout": {Name: "scout", Prompt: "Look.", Model: "small", Tools: []string{"read", "bash"}}},
	}})
	d.labels["a1"] = &task.Call{Agent: "qwen", Options: task.Options{Model: "parent", Tools: []string{"bash", "ls"}}}
	typed := func(text string) task.AgentInput { return &task.TypedAgentInput{Prompt: text} }
	scout := &task.TypedAgentInput{Type: "scout", Prompt: "Look.\n\np"}
	fork := &task.ForkAgentInput{Parent: "a1", Prompt: "p"}
	for _, tt := range []struct {
		name  string
		give  script.Spec
		agent string
		input task.AgentInput
		want  task.Options
	}{
		{"nothing", script.Spec{}, "pi", typed("p"), task.Options{Model: "run", Effort: "high"}},
		{
			"all", script.Spec{Agent: "qwen", Model: "m", Effort: "low", Tools: []string{"ls"}, ReadOnly: true}, "qwen", typed("p"),
			task.Options{Model: "m", Effort: "low", Tools: []string{"ls"}, ReadOnly: true},
		},
		{"a type", script.Spec{AgentType: "scout"}, "pi", scout, task.Options{Model: "small", Effort: "high", Tools: []string{"read", "bash"}}},
		{
			"over a type", script.Spec{AgentType: "scout", Model: "m", ReadOnly: true}, "pi", scout,
			task.Options{Model: "m", Effort: "high", Tools: []string{"read"}, ReadOnly: true},
		},
		{"a fork", script.Spec{Fork: "a1"}, "qwen", fork, task.Options{Model: "parent", Tools: []string{"bash", "ls"}}},
		{
			"over a fork", script.Spec{Fork: "a1", Agent: "qwen", Model: "m", ReadOnly: true}, "qwen", fork,
			task.Options{Model: "m", Tools: []string{"ls"}, ReadOnly: true},
		},
	} {
		call, err := d.narrow(t.Context(), &script.Call{Prompt: "p", Spec: tt.give})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if in, ok := tt.input.(*task.TypedAgentInput); ok && (call.Title == "scout: p") != (in.Type == "scout") {
			t.Errorf("%s: title %q", tt.name, call.Title)
		}
		if call.Agent != tt.agent || !reflect.DeepEqual(call.Input, tt.input) || !reflect.DeepEqual(call.Options, tt.want) {
			t.Errorf("%s: agent %s, input %+v, options %+v; want %s, %+v, %+v",
				tt.name, call.Agent, call.Input, call.Options, tt.agent, tt.input, tt.want)
		}
	}
	for _, tt := range []struct {
		give script.Spec
		want string
	}{
		{script.Spec{Fork: "a1", Agent: "pi"}, `fork: a1 is an agent "qwen", and its conversation is no agent "pi"'s; drop agent`},
		{script.Spec{Fork: "a2"}, `fork: there is no agent "a2"`},
	} {
		if _, err := d.narrow(t.Context(), &script.Call{Prompt: "p", Spec: tt.give}); err == nil || err.Error() != tt.want {
			t.Errorf("narrow(%+v) = %v, want %s", tt.give, err, tt.want)
		}
	}
}

// TestForksOfRoles: a fork has the limits of the role that its conversation
// began with. It has no limits that were given to a single call of it.
func TestForksOfRoles(t *testing.T) {
	t.Parallel()
	limits := roles.Limits{Timeout: time.Minute, USD: 2}
	config := engine.Config{
		Agents: map[string]*agent.Spec{"codex": {Name: "codex", Kind: "codex"}},
		Roles:  &roles.Orders{Table: roles.Table{roles.Default: {Spec: roles.Spec{Model: "m"}, Limits: limits}}},
	}
	kinds := map[string]agent.Kind{"codex": {Name: "codex", Providers: []string{"openai"}, Bare: true}}
	d := newDriver(Request{Config: Config{
		Agent: "codex", Agents: []string{"codex"},
		Assign: func(r engine.AssignRequest) (*roles.Resolved, error) { return engine.Assign(config, kinds, r) },
	}})
	for _, tt := range []struct {
		id    task.ID
		give  script.Spec
		model string
		want  task.Limits
	}{
		{"a1", script.Spec{Limits: script.Limits{Turns: 7, USD: 9}}, "m ", task.Limits{Turns: 7, USD: 9}},
		{"a2", script.Spec{Fork: "a1"}, "m ", task.Limits{USD: 2}},
		{"a3", script.Spec{Fork: "a2", Limits: script.Limits{USD: 1}}, "m ", task.Limits{USD: 1}},
		{"a4", script.Spec{Fork: "a3", Model: "openai/o:high"}, "o high", task.Limits{USD: 2}},
	} {
		call, err := d.narrow(t.Context(), &script.Call{Prompt: "p", Spec: tt.give})
		if err != nil {
			t.Fatalf("%s: %v", tt.id, err)
		}
		d.labels[tt.id] = call
		if got := call.Model + " " + call.Effort; got != tt.model || call.Limits != tt.want || call.Timeout != time.Minute {
			t.Errorf("%s: %q, %+v, %v; want %q, %+v, a minute", tt.id, got, call.Limits, call.Timeout, tt.model, tt.want)
		}
	}
}

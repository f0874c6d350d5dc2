package workflow

import (
	"reflect"
	"testing"

	"agentswarm/swarm/script"
	"agentswarm/swarm/task"
)

// TestOptionsOfCalls: what a call says goes before what its type says, and
// that before what the run was started with. A fork has what its parent had.
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

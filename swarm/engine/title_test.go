package engine

import (
	"testing"

	"agentswarm/swarm/task"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	typed := func(text string) task.AgentInput { return &task.TypedAgentInput{Type: "Explore", Prompt: text} }
	for name, tt := range map[string]struct {
		give task.Call
		want string
	}{
		"a label":   {task.Call{Label: "mine", Title: "Explore: where", Input: typed("You find things out.\n\nwhere")}, "mine"},
		"a title":   {task.Call{Title: "Explore: where", Input: typed("You find things out.\n\nwhere")}, "Explore: where"},
		"a prompt":  {task.Call{Input: typed("\n  first \nsecond")}, "first"},
		"a command": {task.Call{Input: typed(" \n"), Command: []string{"go", "vet"}}, "go vet"},
		"nothing":   {task.Call{Input: typed("")}, "a7"},
	} {
		if got := Title("a7", &tt.give); got != tt.want {
			t.Errorf("%s: Title = %q, want %q", name, got, tt.want)
		}
	}
}

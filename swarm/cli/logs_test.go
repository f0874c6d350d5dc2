package cli

import (
	"slices"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
)

// What an agent of another program wrote is read in the words of that program.
func TestLogsReadEachKind(t *testing.T) {
	t.Parallel()
	l := &logger{kinds: Env{}.kinds()}
	for kind, line := range map[string]string{
		"codex":   `{"method":"item/started","params":{"item":{"type":"commandExecution","id":"c1","command":"ls","status":"inProgress"}}}`,
		"pi":      `{"type":"tool_execution_start","toolCallId":"c1","toolName":"bash","args":{"command":"ls"}}`,
		"builtin": `{"type":"tool_start","id":"c1","name":"bash","input":{"command":"ls"}}`,
		"gone":    `{"type":"tool_start","id":"c1","name":"bash","input":{"command":"ls"}}`,
	} {
		got := l.parser(&agent.Spec{Kind: kind, Format: agent.FormatJSONL}).Feed([]byte(line + "\n"))
		if !slices.ContainsFunc(got, func(e event.Event) bool {
			start, ok := e.(*event.ToolStart)
			return ok && start.Name == "bash"
		}) {
			t.Errorf("%s: %s is read as %v", kind, line, got)
		}
	}
}

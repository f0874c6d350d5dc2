package plan

import (
	"strings"
	"testing"

	"agentswarm/internal/testing/getenv"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/task"
)

// TestUnboundedIsSaid checks that, without a question, a run with a budget in
// dollars names the models that the budget does not bound.
func TestUnboundedIsSaid(t *testing.T) {
	t.Parallel()
	const line = "swarm: no price is known for mine/local, so the budget of $5.00 does not bound them; set [prices] in your configuration\n"
	for _, tt := range []struct {
		name, model string
		budget      float64
		yes         bool
		want        string
	}{
		{"nobody at a terminal", "mine/local", 5, false, line},
		{"--yes", "mine/local", 5, true, line},
		{"no budget in dollars", "mine/local", 0, false, ""},
		{"a model with a price", "gpt-5", 5, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			p := cmdline.Without(cmdline.Env{Stdin: strings.NewReader(""), Stderr: &said, Getenv: getenv.Func(), Kinds: kinds.All()})
			c := engine.Config{Agents: map[string]*agent.Spec{"codex": {Name: "codex", Kind: "codex", Model: tt.model}}}
			c.Budget.USD = tt.budget
			if err := ConfirmCalls(p, c, []*task.Call{{Agent: "codex"}}, tt.yes); err != nil {
				t.Fatal(err)
			}
			if said.String() != tt.want {
				t.Errorf("said %q, want %q", said.String(), tt.want)
			}
		})
	}
}

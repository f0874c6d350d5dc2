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
	"agentswarm/swarm/workflow/library"
)

// TestSayLogin checks that a missing key is reported if a used model takes a
// key, and not if all are of local servers.
func TestSayLogin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, own string
		models    []string
		script    bool
		want      bool
	}{
		{"local", "", []string{"ollama/m"}, false, false},
		{"local by its table", "ollama/m", []string{""}, false, false},
		{"with a key", "", []string{"openai/m"}, false, true},
		{"one of both", "", []string{"ollama/m", "openai/m"}, false, true},
		{"of whoever has a key", "", []string{"m"}, false, true},
		{"local, of a script", "", []string{"ollama/m"}, true, false},
		{"with a key, of a script", "", []string{"openai/m"}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			p := cmdline.Without(cmdline.Env{Stderr: &said, Getenv: getenv.Func(), Kinds: kinds.All()})
			pl := &Plan{Config: engine.Config{Agents: map[string]*agent.Spec{
				"mine": {Name: "mine", Kind: agent.KindBuiltin, Model: test.own},
			}}}
			for _, model := range test.models {
				if test.script {
					pl.Script = &library.Script{Agent: "mine", Options: &task.Options{Model: model}}
					continue
				}
				pl.Calls = append(pl.Calls, &task.Call{Agent: "mine", Options: task.Options{Model: model}})
			}
			SayAgent(p, pl)
			if got := strings.Contains(said.String(), "login of builtin: none was found"); got != test.want {
				t.Errorf("it says %q", said.String())
			}
		})
	}
}

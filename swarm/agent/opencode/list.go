package opencode

import (
	"slices"
	"strings"

	"agentswarm/swarm/agent"
)

// askModels starts opencode to list the models that it has logins for, in the
// environment that its agents have.
func askModels(r agent.Request) (agent.Launch, error) {
	argv := append(slices.Clone(r.Spec.Command), "models")
	l, err := Adapter{}.Launch(r)
	l.Argv, l.Stdin = argv, ""
	return l, err
}

// readModels reads the program's output: one PROVIDER/MODEL a line.
func readModels(said string) []agent.Listed {
	var all []agent.Listed
	for line := range strings.Lines(said) {
		name := strings.TrimSpace(line)
		provider, model, ok := strings.Cut(name, "/")
		if ok && provider != "" && model != "" && !strings.ContainsAny(name, " \t") && !strings.Contains(provider, ":") {
			all = append(all, agent.Listed{Name: name})
		}
	}
	return all
}

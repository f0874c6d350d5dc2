package main

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/agent/kinds"
)

// kindsVar gives the `swarm` of the tests kinds of agents that are scripts.
const kindsVar = "SWARMTEST_KINDS"

// fakeKinds are kinds whose programs talk as any command does. Pi can do all
// there is, codex nothing, and qwen costs nothing.
func fakeKinds() kinds.List {
	if os.Getenv(kindsVar) == "" {
		return nil
	}
	spec := agent.Spec{Input: agent.InputStdin, Format: agent.FormatJSONL, Success: agent.SuccessAnswer}
	tried := agent.Versions{Args: []string{"--version"}, Oldest: "1.0.0", Newest: "1.2.0"}
	all := agent.Abilities{Model: true, Effort: true, Tools: true, ReadOnly: true, Schema: true, Fork: true, Hook: true, Sandbox: true}
	return kinds.List{
		{
			Name: agent.KindPi, Adapter: wordy{}, Spec: spec, Program: "pi", Install: "npm install -g pi", Version: tried,
			Can: all, Footprint: 56 << 20, Paid: true, Login: keyed("PI_API_KEY", ""), Fetches: true,
			Models: func(agent.Surroundings) []string { return []string{"small", "large"} },
			List:   &agent.Lister{Launch: askPrograms, Read: readPrograms},
		},
		{
			Name: agent.KindCodex, Adapter: wordy{}, Spec: spec, Program: "codex", Install: "npm install -g codex", Version: tried,
			Footprint: 20 << 20, Paid: true, Login: keyed("CODEX_API_KEY", "its token is good for one agent at a time"),
		},
		{
			Name: agent.KindQwen, Adapter: wordy{}, Spec: spec, Program: "qwen", Install: "npm install -g qwen", Version: tried,
			Footprint: 189 << 20, Can: agent.Abilities{Model: true, Fork: true}, Providers: []string{"qwen"}, Bare: true,
		},
		{
			Name: agent.KindBuiltin, Adapter: wordy{}, Spec: spec, Can: all, Footprint: 20 << 20, Paid: true,
			Login: keyed("BUILTIN_API_KEY", ""),
		},
	}
}

// askPrograms has a program list its models, in a folder of its own.
func askPrograms(r agent.Request) (agent.Launch, error) {
	return agent.Launch{
		Argv: append(slices.Clone(r.Spec.Command), "--list"), Env: []string{"PI_STATE=" + r.State},
		Files: []agent.File{{Name: "auth", Data: []byte("login")}},
	}, nil
}

// readPrograms takes each word for a model.
func readPrograms(said string) (all []agent.Listed) {
	for _, name := range strings.Fields(said) {
		all = append(all, agent.Listed{Name: name, Window: roles.Window{Context: 4096}})
	}
	return all
}

// keyed is a login by a key in a variable.
func keyed(name, risk string) func(agent.Surroundings) agent.Login {
	return func(s agent.Surroundings) agent.Login {
		if s.Getenv(name) == "" {
			return agent.Login{Missing: "set " + name}
		}
		return agent.Login{
			Name: "key in $" + name, Risk: risk, Env: []string{name},
			Addresses: map[string]string{"": s.Getenv(strings.TrimSuffix(name, "API_KEY") + "BASE_URL")},
		}
	}
}

// wordy drives a command, and names in its arguments the model and other
// settings to use.
type wordy struct{ command.Adapter }

func (w wordy) Launch(r agent.Request) (agent.Launch, error) {
	launch, err := w.Adapter.Launch(r)
	argv := []string{launch.Argv[0]}
	for _, option := range []struct{ name, value string }{
		{"model", r.Spec.Model}, {"effort", r.Spec.Effort}, {"tools", strings.Join(r.Spec.Tools, ",")},
	} {
		if option.value != "" {
			argv = append(argv, option.name+"="+option.value)
		}
	}
	if r.Spec.ReadOnly {
		argv = append(argv, "read-only")
	}
	if r.Spec.Turns > 0 {
		argv = append(argv, "turns="+strconv.Itoa(r.Spec.Turns))
	}
	launch.Argv = append(argv, launch.Argv[1:]...)
	return launch, err
}

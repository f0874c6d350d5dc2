package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/provider"
)

// Builtin returns the description of swarm's own agent, "swarm builtin". It is
// a child process as any other and speaks the same protocol.
func Builtin() agent.Kind {
	return agent.Kind{
		Name:    agent.KindBuiltin,
		Adapter: Inhouse{},
		Spec: agent.Spec{
			Name: agent.KindBuiltin, Kind: agent.KindBuiltin, Command: []string{"builtin"},
			Input: agent.InputJSONL, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
		},
		Providers: provider.Names(),
		Can: agent.Abilities{
			Model: true, Effort: true, Thinking: true, Tools: true, ReadOnly: true, Schema: true, Fork: true, Steer: true, Turns: true, Hook: true,
		},
		Footprint: 40 << 20,
		// It prints its model's text at once, but nothing while a command runs.
		Quiet:    10 * time.Minute,
		Alike:    true,
		Paid:     true,
		Sessions: []string{sessions + "/*"},
		Check:    check,
		Login:    Endpoints(nil),
		Unnamed:  Unnamed(nil),
	}
}

// Unnamed explains how to name its model where it has more providers than those
// it knows: swarm cannot guess the provider.
func Unnamed(more map[string]provider.Provider) func(agent.Surroundings) string {
	return func(s agent.Surroundings) string {
		if s.Getenv(modelVariable) != "" {
			return ""
		}
		var ways []string
		for _, model := range examples() {
			by, _, _ := strings.Cut(model, "/")
			if s.Getenv(provider.Keys(more)[by]) != "" {
				ways = append(ways, "--model "+model)
			}
		}
		if len(ways) == 0 {
			ways = []string{"--model PROVIDER/MODEL"}
		}
		return "name one: " + strings.Join(ways, " or ") + ", $" + modelVariable + ", or default under [roles] of the configuration; swarm models lists the models"
	}
}

// examples are models that need no setup: one of each provider.
func examples() []string {
	return []string{"anthropic/claude-sonnet-4-6", "openai/gpt-5.2"}
}

// sessions is the folder, below its state, in which it keeps conversations, each
// under its id.
const sessions = "sessions"

// openingFile holds the parts of the prompt that others than the agent know.
const openingFile = "opening.json"

// Inhouse drives agents of kind builtin.
type Inhouse struct{ Adapter }

// Launch starts it with its stdin open. It learns the rules for its actions
// from $SWARM_CONTRACT.
func (a Inhouse) Launch(r agent.Request) (agent.Launch, error) {
	s := r.Spec
	argv := append(slices.Clone(r.Command), "--jsonl", "--session="+path.Join(r.State, sessions, r.Session))
	for _, option := range []struct{ name, value string }{
		{"model", s.Model}, {"effort", s.Effort}, {"tools", strings.Join(s.Tools, ",")},
	} {
		if option.value != "" {
			argv = append(argv, "--"+option.name+"="+option.value)
		}
	}
	if err := check(s); err != nil {
		return agent.Launch{}, err
	}
	if s.ReadOnly {
		argv = append(argv, "--read-only")
	}
	if s.MaxThinking > 0 {
		argv = append(argv, "--max-thinking-tokens="+strconv.FormatInt(s.MaxThinking, 10))
	}
	if s.Turns > 0 {
		argv = append(argv, "--max-turns="+strconv.Itoa(s.Turns))
	}
	if r.Opening != nil {
		argv = append(argv, "--opening-file="+path.Join(r.State, openingFile))
	}
	if r.Parent != "" {
		argv = append(argv, "--fork="+path.Join(r.State, sessions, r.Parent))
	}
	if slices.ContainsFunc(r.Login.Files, func(f agent.File) bool { return f.Name == providersFile }) {
		argv = append(argv, "--provider-file="+path.Join(r.State, providersFile))
	}
	r.Command = argv
	l, err := a.Adapter.Launch(r)
	l.Files = append(l.Files, r.Login.Files...)
	if err == nil && r.Opening != nil {
		var text []byte
		text, err = json.Marshal(r.Opening)
		l.Files = append(l.Files, agent.File{Name: openingFile, Data: text})
	}
	l.Respond = func(e event.Event) (text []byte, last bool) {
		_, failed := e.(*event.Erred)
		return nil, failed
	}
	return l, err
}

// check returns the errors that the agent would end with after its start.
func check(s *agent.Spec) error {
	if s.Effort != "" && !slices.Contains(roles.Efforts(), s.Effort) {
		return fmt.Errorf("effort %q: the built-in agent knows %s", s.Effort, strings.Join(roles.Efforts(), ", "))
	}
	return s.CheckReads()
}

// modelVariable names its model where nothing else does.
const modelVariable = agent.BuiltinModel

// places are those that say where a model is that may need no key.
func places() []string {
	return append([]string{modelVariable}, provider.BaseVariables()...)
}

// providersFile tells the agent of the providers that are configured. It names
// the variables of their keys, and holds none.
const providersFile = "providers.json"

// keysOf are the variables of the keys of some providers, each once.
func keysOf(names []string, more map[string]provider.Provider) (keys []string) {
	all := provider.Keys(more)
	for _, name := range names {
		if key := all[name]; key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Endpoints is how the built-in agent logs in where it asks more providers than
// those it knows.
func Endpoints(more map[string]provider.Provider) func(agent.Surroundings) agent.Login {
	return func(s agent.Surroundings) agent.Login {
		configured := slices.Sorted(maps.Keys(more))
		known, own := keysOf(provider.Names(), more), keysOf(configured, more)
		usual := keysOf(slices.Concat([]string{"anthropic", "openai"}, configured), more)
		l := agent.Login{
			Provider: provider.Guess(s.Getenv, more),
			Missing:  "set $" + strings.Join(usual, " or $") + ", or the key of another provider, or name it with a model of a local server, such as --agent builtin --model ollama/qwen3-coder:30b",
		}
		var found []string
		need := func(name string) {
			if s.Getenv(name) != "" && !slices.Contains(l.Env, name) {
				found = append(found, "$"+name)
				l.Env = append(l.Env, name)
			}
		}
		for _, name := range slices.Concat(known, places(), own) {
			need(name)
		}
		var keyless []string
		for _, name := range configured {
			if p := more[name]; p.KeyEnv == "" && p.BaseURL != "" {
				keyless = append(keyless, "provider "+name)
			}
		}
		var ways []string
		if len(found) > 0 {
			ways = append(ways, "by "+strings.Join(found, ", "))
		}
		l.Name = strings.Join(append(ways, keyless...), "; ")
		if !slices.Contains(l.Env, modelVariable) {
			l.Env = append(l.Env, modelVariable)
		}
		if text, err := json.Marshal(more); err == nil && len(more) > 0 {
			l.Files = []agent.File{{Name: providersFile, Data: text}}
		}
		return l
	}
}

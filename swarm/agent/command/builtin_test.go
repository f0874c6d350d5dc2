package command

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/provider"
)

// TestUnnamed checks that proposed models are known and can be typed.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	prices, err := roles.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range examples() {
		if _, known := prices.Of(model); !known {
			t.Errorf("%s stands in no table", model)
		}
	}
	own := map[string]provider.Provider{"anthropic": {KeyEnv: "WORK_KEY"}}
	for _, test := range []struct {
		set  string
		more map[string]provider.Provider
		want string
	}{
		{"ANTHROPIC_API_KEY", nil, "--model anthropic/claude-sonnet-4-6, "},
		{"OPENAI_API_KEY", nil, "--model openai/gpt-5.2, "},
		{"OPENAI_API_KEY", own, "--model openai/gpt-5.2, "},
		{"ANTHROPIC_API_KEY", own, "--model PROVIDER/MODEL, "},
		{"WORK_KEY", own, "--model anthropic/claude-sonnet-4-6, "},
	} {
		env := map[string]string{test.set: "k"}
		s := agent.Surroundings{Getenv: func(name string) string { return env[name] }}
		if got := Unnamed(test.more)(s); !strings.Contains(got, "name one: "+test.want) {
			t.Errorf("with %s: %s", test.set, got)
		}
		env[modelVariable] = "p/m"
		if got := Unnamed(test.more)(s); got != "" {
			t.Errorf("with a model: %s", got)
		}
	}
}

// TestBuiltin holds how the built-in agent is started.
func TestBuiltin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		spec   agent.Spec
		parent string
		want   string // the rest of the line; of an error all of it
	}{
		{"plain", agent.Spec{}, "", ""},
		{"model", agent.Spec{Model: "ollama/m", Effort: "high"}, "", "--model=ollama/m --effort=high"},
		{"tools", agent.Spec{Tools: []string{"read", "bash"}, Turns: 7}, "", "--tools=read,bash --max-turns=7"},
		{"read-only", agent.Spec{ReadOnly: true, Tools: []string{"ls"}}, "", "--tools=ls --read-only"},
		{"fork", agent.Spec{}, "p", "--fork=/state/sessions/p"},
		{"read-only that writes", agent.Spec{ReadOnly: true, Tools: []string{"edit"}}, "",
			"tools edit: an agent that is read-only can have only read,grep,find,ls"},
		{"no effort", agent.Spec{Effort: "hard"}, "",
			`effort "hard": the built-in agent knows none, minimal, low, medium, high, xhigh, max`},
	} {
		kind := Builtin()
		spec := test.spec
		spec.Input = kind.Spec.Input
		l, err := kind.Adapter.Launch(agent.Request{
			Spec: &spec, Prompt: "p", Command: []string{"/swarm", "builtin"}, State: "/state", Session: "s", Parent: test.parent,
		})
		if err != nil {
			if err.Error() != test.want {
				t.Errorf("%s: %v, want %s", test.name, err, test.want)
			}
			continue
		}
		want := strings.TrimSpace("/swarm builtin --jsonl --session=/state/sessions/s " + test.want)
		if got := strings.Join(l.Argv, " "); got != want {
			t.Errorf("%s: %s, want %s", test.name, got, want)
		}
		if string(l.Feed) != `{"type":"prompt","text":"p"}`+"\n" || l.Respond == nil {
			t.Errorf("%s: it is fed %s", test.name, l.Feed)
		}
	}
}

// TestEndpoints checks the accepted logins, and the variables that are handed
// on.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		set, want string
		env       []string
	}{
		{"", "", []string{"SWARM_BUILTIN_MODEL"}},
		{"OPENAI_API_KEY", "by $OPENAI_API_KEY", []string{"OPENAI_API_KEY", "SWARM_BUILTIN_MODEL"}},
		{"OLLAMA_BASE_URL", "by $OLLAMA_BASE_URL", []string{"OLLAMA_BASE_URL", "SWARM_BUILTIN_MODEL"}},
		{"SWARM_BUILTIN_MODEL", "by $SWARM_BUILTIN_MODEL", []string{"SWARM_BUILTIN_MODEL"}},
	} {
		l := Endpoints(nil)(agent.Surroundings{Getenv: func(name string) string {
			if name == test.set {
				return "x"
			}
			return ""
		}})
		if l.Name != test.want || !slices.Equal(l.Env, test.env) || l.Missing == "" {
			t.Errorf("%s: %+v", test.set, l)
		}
	}
}

// TestOwnKeys checks that a known provider whose key is in another variable is
// opened by that key, and not by its usual one.
func TestOwnKeys(t *testing.T) {
	t.Parallel()
	login := Endpoints(map[string]provider.Provider{"anthropic": {KeyEnv: "WORK_KEY"}, "mine": {BaseURL: "http://m", KeyEnv: "MINE_KEY"}})
	for _, test := range []struct {
		set, name, provider string
		env                 []string
	}{
		{"ANTHROPIC_API_KEY", "", "", []string{"SWARM_BUILTIN_MODEL"}},
		{"WORK_KEY", "by $WORK_KEY", "anthropic", []string{"WORK_KEY", "SWARM_BUILTIN_MODEL"}},
		{"OPENAI_API_KEY", "by $OPENAI_API_KEY", "openai", []string{"OPENAI_API_KEY", "SWARM_BUILTIN_MODEL"}},
	} {
		l := login(agent.Surroundings{Getenv: func(name string) string { return map[string]string{test.set: "k"}[name] }})
		if l.Name != test.name || l.Provider != test.provider || !slices.Equal(l.Env, test.env) {
			t.Errorf("with %s: %+v", test.set, l)
		}
		if !strings.HasPrefix(l.Missing, "set $WORK_KEY or $OPENAI_API_KEY or $MINE_KEY, or ") {
			t.Errorf("with %s: Missing = %q", test.set, l.Missing)
		}
	}
}

// TestMoreEndpoints: providers that are configured are told to the agent, and
// their keys are handed on by the environment alone.
func TestMoreEndpoints(t *testing.T) {
	t.Parallel()
	login := Endpoints(map[string]provider.Provider{
		"b": {BaseURL: "http://b", KeyEnv: "B_KEY"}, "a": {BaseURL: "http://a"}, "c": {BaseURL: "http://c", KeyEnv: "C_KEY"},
		"openai": {Models: map[string]provider.Facts{"m": {MaxOutput: 1}}},
	})(agent.Surroundings{Getenv: func(name string) string { return map[string]string{"B_KEY": "secret"}[name] }})
	if want := "by $B_KEY; provider a"; login.Name != want {
		t.Errorf("Name = %q, want %q", login.Name, want)
	}
	if want := []string{"B_KEY", "SWARM_BUILTIN_MODEL"}; !slices.Equal(login.Env, want) {
		t.Errorf("Env = %q, want %q", login.Env, want)
	}
	kind := Builtin()
	l, err := kind.Adapter.Launch(agent.Request{
		Spec: &kind.Spec, Prompt: "p", Command: []string{"/swarm", "builtin"}, State: "/state", Session: "s", Login: login,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := "/swarm builtin --jsonl --session=/state/sessions/s --provider-file=/state/providers.json"; strings.Join(l.Argv, " ") != want {
		t.Errorf("it is started by %q, want %q", l.Argv, want)
	}
	want := `{"a":{"base_url":"http://a"},"b":{"base_url":"http://b","key_env":"B_KEY"},"c":{"base_url":"http://c","key_env":"C_KEY"},` +
		`"openai":{"models":{"m":{"max_output":1}}}}`
	if len(l.Files) != 1 || l.Files[0].Name != "providers.json" || string(l.Files[0].Data) != want {
		t.Errorf("it is given %s, want %s", l.Files, want)
	}
}

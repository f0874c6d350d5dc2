package opencode

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
)

func TestReadModels(t *testing.T) {
	t.Parallel()
	const said = "anthropic/claude-x\n  opencode/big\r\nrouter/a/b:free\nError: no/way out\nhttps://h/x\n/m\np/\nplain\n\n"
	var got []string
	for _, m := range readModels(said) {
		got = append(got, m.Name)
	}
	if want := []string{"anthropic/claude-x", "opencode/big", "router/a/b:free"}; !slices.Equal(got, want) {
		t.Errorf("readModels = %q, want %q", got, want)
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add("a/b\n")
	f.Add("/\n a / b \x00/\xff")
	f.Fuzz(func(t *testing.T, said string) {
		for _, m := range readModels(said) {
			if !strings.Contains(m.Name, "/") {
				t.Errorf("readModels(%q) has %q", said, m.Name)
			}
		}
	})
}

// TestAskModels: it lists in a state folder of its own, with the user's login.
func TestAskModels(t *testing.T) {
	t.Parallel()
	l, err := askModels(agent.Request{
		Spec: &agent.Spec{Command: []string{"opencode"}}, State: "/state", Login: agent.Login{Files: []agent.File{{Name: authFile, Data: []byte("{}")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"opencode", "models"}; !slices.Equal(l.Argv, want) {
		t.Errorf("it is started by %q, want %q", l.Argv, want)
	}
	for _, want := range []string{"XDG_CONFIG_HOME=/state/config", "XDG_DATA_HOME=/state/data", "XDG_STATE_HOME=/state/state"} {
		if !slices.Contains(l.Env, want) {
			t.Errorf("its environment %q lacks %s", l.Env, want)
		}
	}
	if !slices.ContainsFunc(l.Files, func(f agent.File) bool { return f.Name == authFile }) {
		t.Error("it has no login")
	}
}

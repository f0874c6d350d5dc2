package pi

import (
	"reflect"
	"slices"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
)

func TestReadModels(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, give string
		want       []agent.Listed
	}{
		{"nothing", "", nil},
		{"none", "No models available. Set API keys in environment variables.\n", nil},
		{
			"a table", "a warning\nprovider   model         context  max-out  thinking  images\n" +
				"anthropic  claude-x      200K     64K      yes       yes\nfake       a/b:free      1.0M     32.8K    no        no\nlocal      m             512      -        no        no\n\nbye\n",
			[]agent.Listed{
				{Name: "anthropic/claude-x", Window: roles.Window{Context: 200_000, Output: 64_000}},
				{Name: "fake/a/b:free", Window: roles.Window{Context: 1_000_000, Output: 32_800}},
				{Name: "local/m", Window: roles.Window{Context: 512}},
			},
		},
		{"other columns", "model  provider  new\nm  p  ?\n", []agent.Listed{{Name: "p/m"}}},
	} {
		if got := readModels(tt.give); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: readModels = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add("provider model context\np m 1K\n")
	f.Add("provider model context\np m NaN\np m -1K\np m 9999999999999999M")
	f.Fuzz(func(t *testing.T, said string) {
		for _, m := range readModels(said) {
			if m.Window.Context < 0 || m.Window.Output < 0 {
				t.Errorf("readModels(%q) has %+v", said, m)
			}
		}
	})
}

// TestAskModels: it lists in a state folder of its own, with the user's login.
func TestAskModels(t *testing.T) {
	t.Parallel()
	l, err := askModels(agent.Request{
		Spec: &agent.Spec{Command: []string{"pi"}}, State: "/state", Login: agent.Login{Files: []agent.File{{Name: "auth.json", Data: []byte("{}")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"pi", "--no-extensions", "--list-models"}; !slices.Equal(l.Argv, want) {
		t.Errorf("it is started by %q, want %q", l.Argv, want)
	}
	if !slices.Contains(l.Env, "PI_CODING_AGENT_DIR=/state") {
		t.Errorf("its environment %q has no state folder", l.Env)
	}
	if !slices.ContainsFunc(l.Files, func(f agent.File) bool { return f.Name == "auth.json" }) {
		t.Error("it has no login")
	}
}

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
			"prices and windows", "a warning\n" + `{"id":"models","type":"response","command":"get_available_models","success":true,"data":{"models":[` +
				`{"id":"claude-x","provider":"anthropic","cost":{"input":3,"output":15,"cacheRead":0.3,"cacheWrite":3.75},"contextWindow":200000,"maxTokens":64000},` +
				`{"id":"a/b:free","provider":"fake","cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":1000000,"maxTokens":32800},` +
				`{"id":"tiers","provider":"p","cost":{"input":1,"output":2,"tiers":[{"inputTokensAbove":200000,"input":2}]}},` +
				`{"id":"odd","provider":"p","cost":{"input":-1,"output":2},"contextWindow":-5,"maxTokens":1e300},` +
				`{"id":7},{"provider":"p"}]}}` + "\n\nbye\n",
			[]agent.Listed{
				{Name: "anthropic/claude-x", Window: roles.Window{Context: 200_000, Output: 64_000}, Price: &roles.Price{
					Input: 3, Output: 15, CacheRead: new(0.3), CacheWrite: new(3.75),
				}},
				{Name: "fake/a/b:free", Window: roles.Window{Context: 1_000_000, Output: 32_800}},
				{Name: "p/tiers", Price: &roles.Price{Input: 1, Output: 2, MostInput: 200_000}},
				{Name: "p/odd"},
			},
		},
		{"another response", `{"command":"get_state","data":{"models":[{"id":"m","provider":"p"}]}}`, nil},
	} {
		if got := readModels(tt.give); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: readModels = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func FuzzReadModels(f *testing.F) {
	f.Add(`{"command":"get_available_models","data":{"models":[{"id":"m","provider":"p","contextWindow":-1}]}}`)
	f.Add(`{"command":"get_available_models","data":{"models":[{"id":"m","provider":"p","maxTokens":1e300}]}}`)
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
	if want := []string{"pi", "--mode", "rpc", "--no-extensions"}; !slices.Equal(l.Argv[len(l.Argv)-len(want):], want) {
		t.Errorf("it is started by %q, want %q", l.Argv, want)
	}
	if !slices.Contains(l.Env, "PI_CODING_AGENT_DIR=/state") {
		t.Errorf("its environment %q has no state folder", l.Env)
	}
	if !slices.ContainsFunc(l.Files, func(f agent.File) bool { return f.Name == "auth.json" }) {
		t.Error("it has no login")
	}
}

package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/provider"
)

// TestProviders: the kind says of the built-in agent what that can do.
func TestProviders(t *testing.T) {
	t.Parallel()
	known := kinds.All().ByName()
	got := slices.Sorted(slices.Values(known[agent.KindBuiltin].Providers))
	if !slices.Equal(got, provider.Names()) {
		t.Errorf("the built-in agent reaches %q, and its kind says %q", provider.Names(), got)
	}
	for name, kind := range known {
		if kind.Bare && len(kind.Providers) == 0 {
			t.Errorf("%s is told a model without its provider, and there is none it reaches", name)
		}
		if !kind.Can.Model {
			continue
		}
		choice, err := kind.Tell(roles.Spec{Model: "m", Effort: "low"}, nil)
		if err != nil || choice.Model != "m" || choice.Effort != "low" {
			t.Errorf("%s is told m:low as %+v, %v", name, choice, err)
		}
	}
}

// TestMistypedProvider tells a slip of the pen from a name of somebody's own.
func TestMistypedProvider(t *testing.T) {
	t.Parallel()
	known := kinds.All().ByName()
	o := &roles.Orders{Providers: []string{"workshop"}}
	for give, want := range map[string]string{
		"openai": "", "gemini": "", "openrouter": "", "workshop": "", "somebodys": "", "": "",
		"opnai": "openai", "antropic": "anthropic", "wrkshop": "workshop", "olama": "ollama", "gogle": "google",
	} {
		got := mistypedProvider(o, known, roles.Spec{Provider: give, Model: "m"})
		if (got == "") != (want == "") || want != "" && !strings.HasSuffix(got, `did you mean "`+want+`"?`) {
			t.Errorf("%s: %q, want %q", give, got, want)
		}
	}
}

func TestSayUnused(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := &roles.Orders{
		Role: "commit", Model: roles.Spec{Model: "m"}, Models: map[string]roles.Spec{"revewer": {Model: "r"}, "smol": {Model: "s"}},
	}
	sayUnused(&b, o, []string{"smol", roles.NamedRole})
	const want = "not used: --agent-model revewer: no stage, type or role of the run is called so; did you mean reviewer?\n" +
		"not used: --model m: every agent of the run has a model of its own\n" +
		"role commit: nothing is configured for it, so it is that of default\n"
	if b.String() != want {
		t.Errorf("said:\n%swant:\n%s", b.String(), want)
	}
	b.Reset()
	if sayUnused(&b, nil, nil); b.Len() > 0 {
		t.Errorf("of a run without roles: %s", b.String())
	}
}

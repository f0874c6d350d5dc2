package kinds

import (
	"slices"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/provider"
)

// TestProviders checks that the kind describes the built-in agent's abilities
// correctly.
func TestProviders(t *testing.T) {
	t.Parallel()
	known := All().ByName()
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
		choice, err := kind.Choose(roles.Spec{Model: "m", Effort: "low"}, nil)
		if err != nil || choice.Model != "m" || choice.Effort != "low" {
			t.Errorf("%s is told m:low as %+v, %v", name, choice, err)
		}
	}
}

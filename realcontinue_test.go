package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/modeltest"
)

// TestRealContinues holds that an agent whose provider is overloaded after two
// turns goes on with the same conversation and the same files: neither turn is
// asked for, or paid, twice.
func TestRealContinues(t *testing.T) {
	t.Parallel()
	onKinds(t, func(t *testing.T, k realKind) {
		// These ask again by themselves for long enough.
		patient := slices.Contains([]string{agent.KindBuiltin, agent.KindQwen, agent.KindOpencode, agent.KindCopilot}, k.name)
		var rules []modeltest.Rule
		for serial := 3; serial <= 7; serial++ {
			rules = append(rules, modeltest.Rule{When: modeltest.When{Serial: at(serial)}, Turn: failing(http.StatusServiceUnavailable)})
		}
		for i, rule := range editing() {
			rule.When = modeltest.When{}
			if i < 2 {
				rule.When.Results = at(i)
			}
			rules = append(rules, rule)
		}
		r := newReal(t, k, rules...)
		got := r.run(0, "--retries", "6", "Change hello.txt")
		if got.Status != "completed" || strings.TrimSpace(got.Output) != "I changed hello.txt." || got.Attempt < 2 && !patient {
			t.Errorf("it is %+v", got)
		}
		if got.Patch == nil || got.Patch.Added != 1 || got.Patch.Deleted != 1 || got.Patch.Files != 1 {
			t.Errorf("its patch is %+v", got.Patch)
		}
		requests := r.server.Requests()
		if len(requests) != 8 {
			t.Errorf("%d requests, want 3 answered and 5 refused", len(requests))
		}
		for _, request := range requests[2:] {
			if request.Results < 2 { // gemini tells its model of each twice, once it goes on
				t.Errorf("request %d holds %d results of tools, want those of both turns", request.Serial, request.Results)
			}
		}
		if got.Usage.Output != 60 {
			t.Errorf("%d tokens are paid, want 60", got.Usage.Output)
		}
	})
}

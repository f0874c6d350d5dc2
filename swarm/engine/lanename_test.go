package engine

import (
	"io/fs"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/governor"
)

// TestOneLaneForKinds checks that agents of two kinds wait for the same slots
// if the same provider answers both with the same model.
func TestOneLaneForKinds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind  agent.Kind
		model string
	}{
		{agent.Kind{Name: "talker", Providers: []string{"anthropic"}, Bare: true}, "opus"},
		{agent.Kind{Name: "talker"}, "anthropic/claude-opus-4-6:high"},
	} {
		r := newRig(t)
		r.talkers()
		r.lane("")
		r.talkers()
		r.config.Agents["t"].Model = test.model
		known := r.deps.Kinds["talker"]
		known.Providers, known.Bare = test.kind.Providers, test.kind.Bare
		r.deps.Kinds["talker"] = known
		r.deps.Surroundings = agent.Surroundings{
			Home: "ada", Getenv: func(string) string { return "" },
			Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		}
		var all []*governor.Pass
		for range 8 {
			p, err := r.deps.Governor.Enter(t.Context(), governor.Request{Lane: "anthropic/opus"})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		e := Open(t.Context(), r.deps, r.config, nil)
		if _, err := e.Start(talks("p")); err != nil {
			t.Fatal(err)
		}
		contains(t, "reason", r.held(1)[0], "waiting for a slot (anthropic/opus: 8 of 8)")
		for _, p := range all {
			p.Done()
		}
		settled(e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

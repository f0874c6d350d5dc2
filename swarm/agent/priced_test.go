package agent_test

import (
	"reflect"
	"strings"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/agent/command"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestPriced checks that a reported cost stays, that a missing cost is computed
// and marked, and that usage without a price has none.
func TestPriced(t *testing.T) {
	t.Parallel()
	price := func(model string, u task.Usage) (float64, bool) {
		return float64(u.Output) * map[string]float64{"small": 1, "big": 10}[model], model != "unknown" && model != ""
	}
	for _, tt := range []struct {
		name, model, give string
		want              []task.Usage
	}{
		{"the model of the spec", "small", `{"type":"usage","output":2}`, []task.Usage{{Output: 2, CostUSD: 2, ComputedUSD: 2}}},
		{"the model of the session", "small", `{"type":"session","model":"big"}` + "\n" + `{"type":"usage","output":2}`, []task.Usage{{Output: 2, CostUSD: 20, ComputedUSD: 20}}},
		{"a session without one", "small", `{"type":"session","id":"x"}` + "\n" + `{"type":"usage","output":2}`, []task.Usage{{Output: 2, CostUSD: 2, ComputedUSD: 2}}},
		{"another model", "", `{"type":"session","model":"small"}` + "\n" + `{"type":"usage","output":1}` + "\n" + `{"type":"session","model":"big"}` + "\n" + `{"type":"usage","output":1}`,
			[]task.Usage{{Output: 1, CostUSD: 1, ComputedUSD: 1}, {Output: 1, CostUSD: 10, ComputedUSD: 10}}},
		{"reported", "small", `{"type":"usage","output":2,"cost_usd":0.5}`, []task.Usage{{Output: 2, CostUSD: 0.5}}},
		{"unknown", "unknown", `{"type":"usage","output":2}`, []task.Usage{{Output: 2, UnpricedTokens: 2}}},
		{"nothing used", "unknown", `{"type":"usage"}`, []task.Usage{{}}},
		{"no model", "", `{"type":"usage","input":3,"output":2,"cache_read":4,"cache_write":5}`,
			[]task.Usage{{Input: 3, Output: 2, CacheRead: 4, CacheWrite: 5, UnpricedTokens: 14}}},
		{"no line end", "small", strings.TrimSuffix(`{"type":"usage","output":3}`, "\n"), []task.Usage{{Output: 3, CostUSD: 3, ComputedUSD: 3}}},
	} {
		spec := &agent.Spec{Model: tt.model, Format: agent.FormatJSONL}
		parser := agent.Priced(command.Adapter{}, price).Parser(spec)
		var got []task.Usage
		for _, e := range append(parser.Feed([]byte(tt.give)), parser.End()...) {
			if spent, ok := e.(*event.Spent); ok {
				got = append(got, spent.Usage)
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: usage = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestPricedReleases checks that a parser keeps its methods for long lines when
// it is wrapped to fill in costs.
func TestPricedReleases(t *testing.T) {
	t.Parallel()
	spec := &agent.Spec{Format: agent.FormatJSONL}
	parser := agent.Priced(command.Adapter{}, nil).Parser(spec)
	line := []byte(`{"type":"text","text":"` + strings.Repeat("x", 1000))
	parser.Feed(line)
	if back := parser.(interface{ Release(int) int }).Release(100); back != len(line) {
		t.Errorf("Release gave %d bytes back, want %d", back, len(line))
	}
	text := agent.Priced(command.Adapter{}, nil).Parser(&agent.Spec{Format: agent.FormatText})
	if back := text.(interface{ Release(int) int }).Release(100); back != 0 {
		t.Errorf("Release of text gave %d bytes back", back)
	}
	text.(interface{ Brief() }).Brief()
}

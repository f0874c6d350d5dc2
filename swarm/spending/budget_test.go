package spending

import (
	"slices"
	"testing"
	"time"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestUnbounded holds which models a person is asked about before a run with
// a budget in dollars.
func TestUnbounded(t *testing.T) {
	t.Parallel()
	known := map[string]agent.Kind{"codex": {Paid: true}, "claude": {Paid: true, Reports: true}, "free": {}}
	for _, test := range []struct {
		name, kind, model string
		usd               float64
		want              bool
	}{
		{"without a price", "codex", "mine/new", 5, true},
		{"with a price of the user's", "codex", "mine/known", 5, false},
		{"without a budget in dollars", "codex", "mine/new", 0, false},
		{"it reports its costs", "claude", "mine/new", 5, false},
		{"it costs nothing", "free", "mine/new", 5, false},
		{"no model is named", "codex", "", 5, false},
	} {
		c := engine.Config{
			Agents: map[string]*agent.Spec{"a": {Name: "a", Kind: test.kind, Model: test.model}},
			Budget: task.Amount{USD: test.usd},
			Prices: map[string]roles.Price{"mine/known": {Input: 1, Output: 1}},
		}
		models, err := Unbounded(c, known, []*task.Call{{Agent: "a", Input: &task.TypedAgentInput{Prompt: "p"}}})
		if err != nil {
			t.Fatal(err)
		}
		if (len(models) > 0) != test.want || test.want && !slices.Contains(models, test.model) {
			t.Errorf("%s: %q", test.name, models)
		}
	}
}

// TestExhausted: a budget is spent once any of its bounds is reached. Without a
// bound it never is.
func TestExhausted(t *testing.T) {
	t.Parallel()
	used := task.Usage{Output: 100, CostUSD: 2}
	v := store.Fold(store.Identity{}, []event.Record{
		{N: 1, Event: &event.Called{Agent: "a1", Call: &task.Call{}}},
		{N: 2, Event: &event.Settled{Agent: "a1", Result: &task.Completed{Work: task.Work{Attempts: 1, Usage: used}}}},
	})
	for _, tt := range []struct {
		budget task.Amount
		want   bool
	}{
		{task.Amount{}, false}, {task.Amount{Tokens: 101}, false}, {task.Amount{Tokens: 100}, true},
		{task.Amount{Tokens: 500, USD: 2}, true}, {task.Amount{USD: 2.5}, false}, {task.Amount{Time: time.Hour}, false},
	} {
		if got := Exhausted(v, tt.budget, time.Now()); got != tt.want {
			t.Errorf("Exhausted(%+v) = %t after %+v, want %t", tt.budget, got, v.Spent(time.Now()), tt.want)
		}
	}
}

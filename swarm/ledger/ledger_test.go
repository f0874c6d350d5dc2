package ledger

import (
	"math"
	"reflect"
	"testing"

	"agentswarm/roles"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func prices(model string) (roles.Price, bool) {
	p, ok := map[string]roles.Price{
		"big": {Input: 10, Output: 20}, "small": {Input: 1, Output: 2}, "long": {Input: 100, Output: 100, MostInput: 1000},
	}[model]
	return p, ok
}

// run is a run with agents of several roles: a1 is tried three times on two
// models, a2 continues a1, and a3 continues a4.
func run(t *testing.T) *store.View {
	t.Helper()
	v := store.Fold(store.Identity{}, nil)
	n := int64(0)
	at := func(e event.Event) {
		n++
		v.Apply(event.Record{N: n, Event: e})
	}
	used := func(input, output int64, usd float64) task.Usage {
		return task.Usage{Input: input, Output: output, CostUSD: usd}
	}
	for id, in := range map[task.ID]task.AgentInput{
		"a1": &task.TypedAgentInput{Prompt: "x"}, "a2": &task.ForkAgentInput{Parent: "a1"},
		"a3": &task.ForkAgentInput{Parent: "a4"}, "a4": &task.TypedAgentInput{Role: "smol"}, "a5": &task.ForkAgentInput{Parent: "a9"},
	} {
		at(&event.Called{Agent: id, Call: &task.Call{Input: in, Phase: map[task.ID]string{"a1": "Plan", "a4": "Look"}[id]}})
	}
	first, all := used(1e6, 0, 0), used(3e6, 1e6, 0)
	at(&event.Retried{Agent: "a1", Attempt: 1, Model: "small", Usage: &first})
	at(&event.Retried{Agent: "a1", Attempt: 1, Error: task.Lost}) // says nothing of it
	at(&event.Settled{Agent: "a1", Attempt: 2, Result: &task.Failed{Work: task.Work{Model: "big", Usage: all}}})
	all.Add(task.Usage{Output: 1e6, CostUSD: 7, ComputedUSD: 4})
	at(&event.Settled{Agent: "a1", Attempt: 3, Result: &task.Completed{Work: task.Work{Model: "big", Usage: all}}})
	at(&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Completed{Work: task.Work{Usage: used(5, 0, 0)}}})
	at(&event.Settled{Agent: "a4", Attempt: 1, Result: &task.Completed{Work: task.Work{Model: "small", Usage: used(1e6, 1e6, 3)}}})
	at(&event.Settled{Agent: "a3", Attempt: 1, Result: &task.Cancelled{Work: task.Work{Model: "odd", Usage: used(1, 1, 0)}}})
	at(&event.Settled{Agent: "a5", Attempt: 1, Result: &task.Failed{}})
	return v
}

func entries(t *testing.T) []Entry {
	t.Helper()
	return Entries(Request{View: run(t), Told: func(*task.Call) string { return "told" }})
}

func TestEntries(t *testing.T) {
	t.Parallel()
	got := entries(t)
	want := []Entry{
		{"a1", 1, "default", "Plan", "small", task.Usage{Input: 1e6}},
		{"a1", 2, "default", "Plan", "big", task.Usage{Input: 2e6, Output: 1e6}},
		{"a1", 3, "default", "Plan", "big", task.Usage{Output: 1e6, CostUSD: 7, ComputedUSD: 4}},
		{"a2", 1, "default", "", "told", task.Usage{Input: 5}},
		{"a3", 1, "smol", "", "odd", task.Usage{Input: 1, Output: 1}},
		{"a4", 1, "smol", "Look", "small", task.Usage{Input: 1e6, Output: 1e6, CostUSD: 3}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Entries = %+v, want %+v", got, want)
	}
	v := run(t)
	if got := Entries(Request{View: v, Only: []*store.Agent{v.Agent("a4")}, Told: func(*task.Call) string { return "" }}); !reflect.DeepEqual(got, want[5:]) {
		t.Errorf("Entries of one = %+v, want %+v", got, want[5:])
	}
	if got := Default(want); got != "big" {
		t.Errorf("Default = %q, want what answered most", got)
	}
	if got := Default(want[4:]); got != "" {
		t.Errorf("Default without any = %q", got)
	}
}

// TestSlowEntries: usage of the model for after two failures belongs to its
// role, and earlier usage does not.
func TestSlowEntries(t *testing.T) {
	t.Parallel()
	v := store.Fold(store.Identity{}, nil)
	before, all := task.Usage{Input: 1}, task.Usage{Input: 3}
	for n, e := range []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Role: "smol"}}},
		&event.Retried{Agent: "a1", Attempt: 2, Model: "small", Usage: &before},
		&event.Switched{Agent: "a1", Attempt: 2, Choice: task.Choice{Model: "big"}, Slow: true},
		&event.Settled{Agent: "a1", Attempt: 3, Result: &task.Completed{Work: task.Work{Usage: all}}},
	} {
		v.Apply(event.Record{N: int64(n + 1), Event: e})
	}
	got := Entries(Request{View: v, Told: func(*task.Call) string { return "told" }})
	want := []Entry{{"a1", 2, "smol", "", "small", task.Usage{Input: 1}}, {"a1", 3, "slow", "", "big", task.Usage{Input: 2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Entries = %+v, want %+v", got, want)
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	all := entries(t)
	type sum struct {
		name                          string
		agents, attempts              int
		input                         int64
		reported, computed, estimated float64
		unpriced                      []string
	}
	is := func(r *Row) sum {
		return sum{r.Name, r.Agents, r.Attempts, r.Usage.Input, r.Reported, r.Computed, r.Estimated, r.Unpriced}
	}
	for by, want := range map[By][]sum{
		ByRole:  {{"default", 2, 4, 3_000_005, 3, 4, 41, []string{"told"}}, {"smol", 2, 2, 1_000_001, 3, 0, 0, []string{"odd"}}},
		ByModel: {{"small", 2, 2, 2e6, 3, 0, 1, nil}, {"big", 1, 2, 2e6, 3, 4, 40, nil}, {"told", 1, 1, 5, 0, 0, 0, []string{"told"}}, {"odd", 1, 1, 1, 0, 0, 0, []string{"odd"}}},
		ByAgent: {{"a1", 1, 3, 3e6, 3, 4, 41, nil}, {"a2", 1, 1, 5, 0, 0, 0, []string{"told"}}, {"a3", 1, 1, 1, 0, 0, 0, []string{"odd"}}, {"a4", 1, 1, 1e6, 3, 0, 0, nil}},
		ByPhase: {{"Plan", 1, 3, 3e6, 3, 4, 41, nil}, {"", 2, 2, 6, 0, 0, 0, []string{"odd", "told"}}, {"Look", 1, 1, 1e6, 3, 0, 0, nil}},
	} {
		rows, total := Sum(all, by, prices)
		var got []sum
		for _, r := range rows {
			got = append(got, is(r))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("by %s: Sum = %+v, want %+v", by, got, want)
		}
		if got, want := is(total), (sum{"", 4, 6, 4_000_006, 6, 4, 41, []string{"odd", "told"}}); !reflect.DeepEqual(got, want) {
			t.Errorf("by %s: the total is %+v, want %+v", by, got, want)
		}
		if total.Cost() != 51 {
			t.Errorf("it costs %v", total.Cost())
		}
	}
	part := []Entry{{Agent: "a1", Model: "small", Usage: task.Usage{Input: 3, CostUSD: 1, ComputedUSD: 1, UnpricedTokens: 2}}}
	if _, total := Sum(part, ByRole, prices); total.Cost() != 1 || !reflect.DeepEqual(total.Unpriced, []string{"small"}) {
		t.Errorf("of a part that has a cost: %+v", total)
	}
	huge := []Entry{{Agent: "a1", Usage: task.Usage{Input: math.MaxInt64}}, {Agent: "a2", Usage: task.Usage{Input: math.MaxInt64}}}
	if _, total := Sum(huge, ByRole, prices); total.Usage.Input != math.MaxInt64 {
		t.Errorf("a sum runs over: %d", total.Usage.Input)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	small := Entry{Agent: "a1", Model: "small", Usage: task.Usage{Input: 1e6, Output: 1e6, CostUSD: 3, ComputedUSD: 3}}
	unsaid := Entry{Agent: "a2", Model: "small", Usage: task.Usage{Input: 1e6}}
	odd := Entry{Agent: "a3", Model: "odd", Usage: task.Usage{Input: 1}}
	few := Entry{Agent: "a4", Model: "small", Usage: task.Usage{Input: 1000}}
	for _, tt := range []struct {
		name  string
		give  []Entry
		model string
		want  Comparison
	}{
		{"nothing", nil, "big", Comparison{}},
		{"on a dearer one", []Entry{small, unsaid}, "big", Comparison{Paid: 4, OnThat: 40}},
		{"on itself", []Entry{small, unsaid}, "small", Comparison{Paid: 4, OnThat: 4}},
		{"on one without a price", []Entry{small}, "odd", Comparison{Paid: 3, Unknown: []string{"odd"}}},
		{"of one without a cost", []Entry{small, odd}, "big", Comparison{Paid: 3, OnThat: 30.00001, Unknown: []string{"odd"}}},
		{"of more than a request", []Entry{small}, "long", Comparison{Paid: 3, OnThat: 200, Longest: 1000}},
		{"on itself, of more than a request", []Entry{{Agent: "a5", Model: "long", Usage: task.Usage{Input: 1e6, CostUSD: 3}}}, "long", Comparison{Paid: 3, OnThat: 3}},
		{"of a part that has a cost", []Entry{{Agent: "a6", Model: "small", Usage: task.Usage{Input: 1e6, CostUSD: 0.5, UnpricedTokens: 1}}}, "big", Comparison{Paid: 0.5, OnThat: 10, Unknown: []string{"small"}}},
		{"of what one request may be", []Entry{few}, "long", Comparison{Paid: 0.001, OnThat: 0.1}},
	} {
		tt.want.Model = tt.model
		got := Compare(tt.give, tt.model, prices)
		got.OnThat, got.Paid = math.Round(got.OnThat*1e6)/1e6, math.Round(got.Paid*1e6)/1e6
		if !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s: Compare = %+v, want %+v", tt.name, *got, tt.want)
		}
	}
	if c := Compare([]Entry{small}, "big", prices); c.Saved() != 27 {
		t.Errorf("Saved = %v, want 27", c.Saved())
	}
}

func TestBy(t *testing.T) {
	t.Parallel()
	var b By
	if err := b.UnmarshalText([]byte("phase")); err != nil || b != ByPhase {
		t.Errorf("UnmarshalText(phase) = %q, %v", b, err)
	}
	if b.UnmarshalText([]byte("")) == nil || b.UnmarshalText([]byte("Model")) == nil {
		t.Error("what there is not is taken")
	}
}

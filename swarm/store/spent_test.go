package store

import (
	"slices"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestSpent adds up the amount that a run has spent over its owners: time in
// which at least one agent was at work, and the usage of all attempts.
func TestSpent(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v := Fold(Identity{}, nil)
	n := int64(0)
	at := func(seconds int, e event.Event) {
		n++
		v.Apply(event.Record{N: n, Time: began.Add(time.Duration(seconds) * time.Second), Event: e})
	}
	is := func(name string, seconds int, want task.Amount) {
		t.Helper()
		want.Time *= time.Second
		if got := v.Spent(began.Add(time.Duration(seconds) * time.Second)); got != want {
			t.Errorf("%s: Spent = %+v, want %+v", name, got, want)
		}
	}
	ends := func(id task.ID, attempt int, tokens int64) *event.Settled {
		return &event.Settled{Agent: id, Attempt: attempt, Result: &task.Failed{
			Work: task.Work{Usage: task.Usage{Input: 7, Output: tokens, CostUSD: 0.5}},
		}}
	}
	at(0, &event.Opened{})
	for _, id := range []task.ID{"a1", "a2"} {
		at(1, &event.Called{Agent: id, Call: &task.Call{}})
	}
	is("nobody at work", 100, task.Amount{})
	at(10, &event.Leased{Agent: "a1", Attempt: 1})
	at(12, &event.Leased{Agent: "a2", Attempt: 1})
	is("two at work", 13, task.Amount{Time: 3})
	at(14, ends("a1", 1, 100))
	at(15, &event.Retried{Agent: "a2", Attempt: 1, Model: "m", Usage: &task.Usage{Output: 20}})
	is("both ended", 100, task.Amount{Tokens: 120, USD: 0.5, Time: 5})
	at(20, &event.Leased{Agent: "a2", Attempt: 2})
	at(22, &event.Started{Agent: "a2", Attempt: 2, Step: "agent"})
	// The owner dies, and the next owner comes much later.
	at(5000, &event.Settled{Agent: "a2", Attempt: 2, Result: &task.Failed{Kind: task.Lost, Work: task.Work{
		Usage: task.Usage{Output: 30}, Ended: began.Add(24 * time.Second),
	}}})
	at(5000, &event.Closed{Status: "stopped"})
	at(6000, &event.Opened{Resumed: true})
	if v.Inherited.Output != 130 {
		t.Errorf("Inherited = %+v, want 130 tokens", v.Inherited)
	}
	at(6001, &event.Leased{Agent: "a2", Attempt: 3})
	at(6005, &event.Ended{Agent: "a2", Attempt: 3})
	// This owner dies, too.
	at(8000, ends("a2", 3, 50))
	at(8000, &event.Closed{Status: "degraded"})
	is("in the end", 9000, task.Amount{Tokens: 150, USD: 1, Time: 13})
	var paid []Paid
	for _, a := range v.Agents {
		paid = append(paid, a.Paid...)
	}
	want := []Paid{
		{Attempt: 1, Usage: task.Usage{Input: 7, Output: 100, CostUSD: 0.5}},
		{Attempt: 1, Model: "m", Usage: task.Usage{Output: 20}}, {Attempt: 2, Usage: task.Usage{Output: 10}},
		{Attempt: 3, Usage: task.Usage{Input: 7, Output: 20, CostUSD: 0.5}},
	}
	if !slices.Equal(paid, want) {
		t.Errorf("Paid = %+v, want %+v", paid, want)
	}
}

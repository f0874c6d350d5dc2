package store

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestHeld follows the reasons for which an agent waits, until a process of it
// starts.
func TestHeld(t *testing.T) {
	t.Parallel()
	held := func(attempt int, why string) event.Event {
		return &event.Held{Agent: "a1", Attempt: attempt, Reason: why}
	}
	lease := &event.Leased{Agent: "a1", Attempt: 1, Dir: "d"}
	for _, tc := range []struct {
		name  string
		give  []event.Event
		held  string
		state string
	}{
		{"for the disk", []event.Event{held(1, "space")}, "space", "queued"},
		{"no more, once it has a workspace", []event.Event{held(1, "space"), lease}, "", "running"},
		{"for a slot", []event.Event{lease, held(1, "slot")}, "slot", "queued"},
		{"the latest counts", []event.Event{lease, held(1, "slot"), held(1, "memory")}, "memory", "queued"},
		{"no more, once it starts", []event.Event{
			lease, held(1, "slot"), &event.Started{Agent: "a1", Attempt: 1, Step: "agent"},
		}, "", "running"},
		{"an earlier attempt", []event.Event{
			lease, &event.Leased{Agent: "a1", Attempt: 2, Dir: "d2"}, held(1, "slot"),
		}, "", "running"},
		{"another attempt", []event.Event{
			lease, held(1, "slot"), &event.Retried{Agent: "a1", Attempt: 1, Error: task.CauseStopped},
		}, "", "queued"},
		{"ended", []event.Event{
			lease, held(1, "slot"), &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Cancelled{}},
		}, "", "cancelled"},
		{"after its end", []event.Event{
			lease, &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Cancelled{}}, held(1, "slot"),
		}, "", "cancelled"},
		{"nobody", []event.Event{&event.Held{Agent: "a9", Reason: "x"}}, "", "queued"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := Fold(Identity{}, record(append([]event.Event{called(1, "one")}, tc.give...)...))
			a := v.Agent("a1")
			if got := task.Word(a.Status); a.Held != tc.held || got != tc.state {
				t.Errorf("it is %s and waits for %q, want %s and %q", got, a.Held, tc.state, tc.held)
			}
		})
	}
}

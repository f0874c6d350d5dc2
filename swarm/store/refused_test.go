package store

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestStale: a stale patch counts as landed and says why, until the merge is undone.
func TestStale(t *testing.T) {
	t.Parallel()
	ref := "refs/heads/main"
	events := []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{}}, &event.Called{Agent: "a2", Call: &task.Call{}},
		&event.Intended{
			ID: 1, Verb: "merge", Ref: ref, New: "n", Agents: []task.ID{"a1"}, There: []task.ID{"a2"},
			Refused: []event.Refusal{{Agent: "a2", Kind: event.RefusedStale, On: []task.ID{"a1"}}},
		},
		&event.Landed{ID: 1, OK: true},
	}
	fold := func(events ...event.Event) *Agent {
		var records []event.Record
		for i, e := range events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		return Fold(Identity{}, records).Agent("a2")
	}
	if a := fold(events...); !a.Landed() || a.Refusal == nil || a.Refusal.Kind != event.RefusedStale {
		t.Errorf("a stale patch: landed %t, refusal %v; want it landed and stale", a.Landed(), a.Refusal)
	}
	if a := fold(append(events, &event.Undone{ID: 1})...); a.Landed() || a.Refusal != nil {
		t.Errorf("after an undo: landed %t, refusal %v; want neither", a.Landed(), a.Refusal)
	}
}

// TestMarkers: the markers that an attempt begins with stay until it begins elsewhere.
func TestMarkers(t *testing.T) {
	t.Parallel()
	markers := &event.Markers{Ours: "main"}
	for _, tt := range []struct {
		name string
		then *event.RetryAsked
		want bool
	}{
		{"told more", &event.RetryAsked{Agent: "a1", Feedback: "more"}, true},
		{"begun anew", &event.RetryAsked{Agent: "a1", Fresh: true}, false},
		{"on another base, where it fits", &event.RetryAsked{Agent: "a1", Onto: "tip"}, false},
	} {
		v := Fold(Identity{}, []event.Record{
			{N: 1, Event: &event.Called{Agent: "a1", Call: &task.Call{}}},
			{N: 2, Event: &event.RetryAsked{Agent: "a1", Onto: "tip", Markers: markers}},
			{N: 3, Event: tt.then},
		})
		if got := v.Agent("a1").Markers != nil; got != tt.want {
			t.Errorf("%s: has markers = %t, want %t", tt.name, got, tt.want)
		}
	}
}

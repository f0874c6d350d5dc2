package store

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestConflicts: a conflict that a merge met stays on record until the patch
// lands, is tried again, or the branch moves back.
func TestConflicts(t *testing.T) {
	t.Parallel()
	met := []event.Conflict{{Agent: "a2", With: []task.ID{"a1"}, Paths: []string{"f"}}}
	landing := func(id int, agents ...task.ID) *event.Intended {
		return &event.Intended{ID: id, Verb: "merge", Ref: "refs/heads/main", Old: "o", New: "n", Agents: agents}
	}
	first := landing(1, "a1")
	first.Conflicts = met
	aside := landing(2, "a2")
	aside.Ref = "refs/heads/other"
	other, later, followed := landing(2, "a1"), landing(2, "a2"), landing(2, "a2")
	other.Old, later.New, followed.New = "t", "m", "m"
	followed.Continues = 1
	tests := []struct {
		name   string
		events []event.Event
		want   bool
	}{
		{
			"landed, and that landing undone",
			[]event.Event{first, &event.Landed{ID: 1, OK: true}, later, &event.Landed{ID: 2, OK: true}, &event.Undone{ID: 2}}, true,
		},
		{
			"both landings undone",
			[]event.Event{
				first, &event.Landed{ID: 1, OK: true}, later, &event.Landed{ID: 2, OK: true},
				&event.Undone{ID: 2}, &event.Undone{ID: 1},
			}, false,
		},
		{
			"landed by the merge that met it, and that merge undone",
			[]event.Event{first, &event.Landed{ID: 1, OK: true}, followed, &event.Landed{ID: 2, OK: true}, &event.Undone{ID: 2}}, false,
		},
		{
			"landed, tried again, and the landing undone",
			[]event.Event{
				first, &event.Landed{ID: 1, OK: true}, later, &event.Landed{ID: 2, OK: true},
				&event.Leased{Agent: "a2", Attempt: 2, Dir: "d"}, &event.Undone{ID: 2},
			}, false,
		},
		{
			"the branch moved back to where it was met",
			[]event.Event{
				&event.Conflicted{Ref: "refs/heads/main", Tip: "t", Conflicts: met}, other, &event.Landed{ID: 2, OK: true}, &event.Undone{ID: 2},
			}, true,
		},
		{"beside what landed", []event.Event{first, &event.Landed{ID: 1, OK: true}}, true},
		{"the landing did not happen", []event.Event{first, &event.Landed{ID: 1}}, false},
		{"nothing landed", []event.Event{&event.Conflicted{Ref: "refs/heads/main", Tip: "t", Conflicts: met}}, true},
		{
			"landed later",
			[]event.Event{first, &event.Landed{ID: 1, OK: true}, landing(2, "a2"), &event.Landed{ID: 2, OK: true}}, false,
		},
		{
			"landed on another branch",
			[]event.Event{first, &event.Landed{ID: 1, OK: true}, aside, &event.Landed{ID: 2, OK: true}}, true,
		},
		{"undone", []event.Event{first, &event.Landed{ID: 1, OK: true}, &event.Undone{ID: 1}}, false},
		{
			"tried again",
			[]event.Event{first, &event.Landed{ID: 1, OK: true}, &event.Leased{Agent: "a2", Attempt: 2, Dir: "d"}}, false,
		},
		{
			"rejected",
			[]event.Event{
				&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Completed{}},
				first, &event.Landed{ID: 1, OK: true}, &event.Reviewed{Agent: "a2", Attempt: 1, Verdict: task.Rejected},
			}, false,
		},
		{
			"accepted",
			[]event.Event{
				&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Completed{}},
				first, &event.Landed{ID: 1, OK: true}, &event.Reviewed{Agent: "a2", Attempt: 1, Verdict: task.Accepted},
			}, true,
		},
		{
			"found on the branch later",
			[]event.Event{
				first, &event.Landed{ID: 1, OK: true},
				&event.Conflicted{Ref: "refs/heads/main", Tip: "t", There: []task.ID{"a2"}},
			}, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var records []event.Record
			for i, e := range append([]event.Event{
				&event.Called{Agent: "a1", Call: &task.Call{}}, &event.Called{Agent: "a2", Call: &task.Call{}},
				&event.Leased{Agent: "a2", Attempt: 1, Dir: "d"},
			}, tt.events...) {
				records = append(records, event.Record{N: int64(i + 1), Event: e})
			}
			v := Fold(Identity{}, records)
			if got := v.Agent("a2").Conflict; (got != nil) != tt.want {
				t.Errorf("Conflict = %v, want one: %v", got, tt.want)
			}
			if got := len(v.InConflict()); (got == 1) != tt.want {
				t.Errorf("%d agents are in conflict, want one: %v", got, tt.want)
			}
		})
	}
}

// TestFound: changes that a merge finds on a branch have landed there, until that
// branch moves back or the agent is tried again.
func TestFound(t *testing.T) {
	t.Parallel()
	const main = "refs/heads/main"
	landing := &event.Intended{ID: 1, Verb: "merge", Ref: main, Old: "o", New: "n", Agents: []task.ID{"a1"}, There: []task.ID{"a2"}}
	aside := &event.Intended{ID: 2, Verb: "merge", Ref: "refs/heads/other", Old: "o", New: "n", Agents: []task.ID{"a1"}}
	happened := &event.Landed{ID: 1, OK: true}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   bool
	}{
		{"beside what landed", []event.Event{landing, happened}, true},
		{"the landing did not happen", []event.Event{landing, &event.Landed{ID: 1}}, false},
		{"nothing landed", []event.Event{&event.Conflicted{Ref: main, Tip: "t", There: []task.ID{"a2"}}}, true},
		{"undone", []event.Event{landing, happened, &event.Undone{ID: 1}}, false},
		{"undone elsewhere", []event.Event{landing, happened, aside, &event.Landed{ID: 2, OK: true}, &event.Undone{ID: 2}}, true},
		{"tried again", []event.Event{landing, happened, &event.Leased{Agent: "a2", Attempt: 2, Dir: "d"}}, false},
	} {
		var records []event.Record
		for i, e := range append([]event.Event{
			&event.Called{Agent: "a1", Call: &task.Call{}}, &event.Called{Agent: "a2", Call: &task.Call{}},
			&event.Leased{Agent: "a2", Attempt: 1, Dir: "d"},
		}, tt.events...) {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		if got := Fold(Identity{}, records).Agent("a2").Landed(); got != tt.want {
			t.Errorf("%s: Landed = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestPartLandings: a landing of a part leaves its agent unlanded, and its conflict
// on record. A landing of another copy lands the agent.
func TestPartLandings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		parts []string
		want  bool
	}{
		{"a part", []string{"a2-1"}, false},
		{"a copy of a shell", nil, true},
		{"a part of another agent", []string{"a1-1"}, true},
	} {
		var records []event.Record
		for i, e := range []event.Event{
			&event.Called{Agent: "a1", Call: &task.Call{}}, &event.Called{Agent: "a2", Call: &task.Call{}},
			&event.Conflicted{Ref: "refs/heads/main", Tip: "t", Conflicts: []event.Conflict{{Agent: "a2", Paths: []string{"f"}}}},
			&event.Intended{ID: 1, Verb: "merge", Ref: "refs/heads/main", New: "n", Agents: []task.ID{"a2"}, Copies: []string{"a2-1"}, Parts: tt.parts},
			&event.Landed{ID: 1, OK: true},
		} {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		v := Fold(Identity{}, records)
		a := v.Agent("a2")
		if a.Landed() != tt.want || (a.Conflict == nil) != tt.want {
			t.Errorf("%s: landed = %t, conflict = %v; want landed %t", tt.name, a.Landed(), a.Conflict, tt.want)
		}
	}
}

package store

import (
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestStates follows an agent through its states, and holds that its time is that
// of its work, and that checks, waits and the pauses of a run stand apart.
func TestStates(t *testing.T) {
	t.Parallel()
	v := Fold(Identity{}, nil)
	n := int64(0)
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	apply := func(second int64, e event.Event) {
		n++
		v.Apply(event.Record{N: n, Time: at(second), Event: e})
	}
	want := func(second int64, text, word string, worked, checked, waited int64) {
		t.Helper()
		a := v.Agent("a1")
		got := a.Times(at(second))
		wanted := Times{time.Duration(worked) * time.Second, time.Duration(checked) * time.Second, time.Duration(waited) * time.Second}
		if a.StateText() != text || task.Word(a.Status) != word || got != wanted {
			t.Errorf("at %d it is %q, %s, %+v, want %q, %s, %+v", second, a.StateText(), task.Word(a.Status), got, text, word, wanted)
		}
	}
	const slot = "waiting for a slot (p/m: 4 of 4)"
	apply(0, &event.Opened{Pid: 1})
	apply(0, called(1, "one"))
	want(50, "queued", "queued", 0, 0, 0)
	apply(100, &event.Leased{Agent: "a1", Attempt: 1})
	want(105, "running", "running", 0, 0, 0) // nothing runs yet
	apply(110, &event.Held{Agent: "a1", Attempt: 1, Reason: slot})
	want(115, slot, "queued", 0, 0, 5)
	apply(120, &event.Held{Agent: "a1", Attempt: 1, Reason: "waiting for memory"})
	want(120, "waiting for a slot", "queued", 0, 0, 10)
	apply(120, &event.Started{Agent: "a1", Attempt: 1, Step: "agent"})
	want(130, "running", "running", 10, 0, 10)
	apply(130, &event.Questioned{ID: "q", Agent: "a1", Attempt: 1})
	want(160, "waiting for you", "waiting", 10, 0, 40)
	apply(160, &event.Replied{ID: "q", Allow: true})
	want(165, "running", "running", 15, 0, 40)
	apply(170, &event.Ended{Agent: "a1", Attempt: 1})
	want(175, "running", "running", 20, 0, 40) // its work is captured
	apply(175, &event.Held{Agent: "a1", Attempt: 1, Step: "verify", Reason: "waiting for a check (2 at once)"})
	want(180, "waiting for a check (2 at once)", "running", 20, 0, 45)
	apply(185, &event.Started{Agent: "a1", Attempt: 1, Step: "verify"})
	want(190, "checking", "running", 20, 5, 50)
	apply(195, &event.Closed{Status: "stopped"})
	want(900, "checking", "running", 20, 10, 50)
	apply(1000, &event.Opened{Pid: 2, Resumed: true})
	apply(1000, &event.Retried{Agent: "a1", Attempt: 1, Reason: "resumed"})
	want(1001, "queued", "queued", 20, 10, 51)
	apply(1002, &event.Started{Agent: "a1", Attempt: 1, Step: "verify"})
	apply(1005, &event.Checked{Agent: "a1", Attempt: 1, OK: true})
	apply(1005, &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{}})
	want(5000, "completed", "completed", 20, 13, 52)
}

// TestDiedTimes checks that the time of a run whose owner died ends with the
// last sign of its agents, and not with a recovery an hour later.
func TestDiedTimes(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	lost := &task.Failed{Kind: task.Lost, Work: task.Work{Ended: at(30)}}
	for name, records := range map[string][]event.Event{
		"lost":                 nil,
		"its answer was found": {&event.Ended{Agent: "a1", Attempt: 1, Error: task.Lost, Lingered: true}},
	} {
		v := Fold(Identity{}, nil)
		n := int64(0)
		apply := func(second int64, e event.Event) {
			n++
			v.Apply(event.Record{N: n, Time: at(second), Event: e})
		}
		apply(0, &event.Opened{Pid: 1})
		apply(0, called(1, "one"))
		apply(10, &event.Leased{Agent: "a1", Attempt: 1})
		apply(10, &event.Started{Agent: "a1", Attempt: 1, Step: "agent"})
		for _, e := range records {
			apply(3600, e)
		}
		apply(3600, &event.Captured{Agent: "a1", Attempt: 1})
		apply(3600, &event.Settled{Agent: "a1", Attempt: 1, Result: lost})
		apply(3601, &event.Closed{Status: "stopped", Reason: ReasonDied})
		if got := v.Agent("a1").Times(at(9000)).Worked; got != 20*time.Second {
			t.Errorf("%s: the agent worked for %s, want 20s", name, got)
		}
		if got := v.Took(at(9000)); got != 30*time.Second {
			t.Errorf("%s: the run took %s, want 30s", name, got)
		}
	}
}

// TestLeft estimates the time that is left, and gives none where that cannot be
// told.
func TestLeft(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	base := func() *View {
		v := Fold(Identity{}, nil)
		n := int64(0)
		apply := func(second int64, e event.Event) {
			n++
			v.Apply(event.Record{N: n, Time: at(second), Event: e})
		}
		apply(0, &event.Opened{Pid: 1})
		for i := range 8 {
			apply(0, called(i+1, "l"))
		}
		for i := range 5 {
			id := task.AgentID(i + 1)
			apply(0, &event.Leased{Agent: id, Attempt: 1})
			apply(int64(10*(i/3)), &event.Started{Agent: id, Attempt: 1, Step: "agent"})
			if i < 3 {
				apply(10, &event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{}})
			}
		}
		return v
	}
	for _, tt := range []struct {
		name   string
		change event.Event
		want   time.Duration
		ok     bool
	}{
		// Two have worked for 5 of 10 seconds, and three are queued.
		{"two at work", nil, 20 * time.Second, true},
		{"paused", &event.Paused{}, 0, false},
		{"a script", &event.Scripted{}, 0, false},
		{"closed", &event.Closed{Status: "stopped"}, 0, false},
		{"too few have ended", &event.RetryAsked{Agent: "a1", After: 1}, 0, false},
	} {
		v := base()
		if tt.change != nil {
			v.Apply(event.Record{N: 100, Time: at(15), Event: tt.change})
		}
		if got, ok := v.Left(at(15)); got != tt.want || ok != tt.ok {
			t.Errorf("%s: left %s, %v, want %s, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// TestLeftOfSlowAgents: the quick agents that ended first say nothing about many that
// have run for longer.
func TestLeftOfSlowAgents(t *testing.T) {
	t.Parallel()
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	v := Fold(Identity{}, nil)
	n := int64(0)
	apply := func(second int64, e event.Event) {
		n++
		v.Apply(event.Record{N: n, Time: at(second), Event: e})
	}
	apply(0, &event.Opened{Pid: 1})
	for i := range 7 {
		id := task.AgentID(i + 1)
		apply(0, called(i+1, "l"))
		apply(0, &event.Leased{Agent: id, Attempt: 1})
		apply(0, &event.Started{Agent: id, Attempt: 1, Step: "agent"})
	}
	for i := range 3 {
		apply(2, &event.Settled{Agent: task.AgentID(i + 1), Attempt: 1, Result: &task.Completed{}})
	}
	if got, ok := v.Left(at(10)); ok {
		t.Errorf("three of seven ended after 2 s, four run for 10 s: left %s, want none", got)
	}
	apply(10, &event.Settled{Agent: "a4", Attempt: 1, Result: &task.Completed{}})
	if _, ok := v.Left(at(10)); !ok {
		t.Error("four of seven have ended: left is not told")
	}
}

// TestChoice checks that a race and a landing of a script choose, and that a
// person takes back a decision of the script against an agent.
func TestChoice(t *testing.T) {
	t.Parallel()
	none := Choice{}
	taken, passed := Choice{task.Selected, "race"}, Choice{task.PassedOver, "race"}
	landed, left := Choice{task.Selected, "land"}, Choice{task.PassedOver, "land"}
	race := &event.Chosen{Won: []task.ID{"a2"}, Lost: []task.ID{"a1"}}
	land := []event.Event{&event.Intended{ID: 1, Verb: "merge", Key: "k", Agents: []task.ID{"a1"}}, &event.Landed{ID: 1, OK: true}}
	for _, tt := range []struct {
		name   string
		give   []event.Event
		a1, a2 Choice
	}{
		{"nothing", nil, none, none},
		{"a race", []event.Event{race}, passed, taken},
		{"another outcome", []event.Event{race, &event.Chosen{Won: []task.ID{"a1"}, Lost: []task.ID{"a2"}}}, taken, passed},
		{"a landing", land, landed, left},
		{"a landing of a person", []event.Event{&event.Intended{ID: 1, Verb: "merge", Agents: []task.ID{"a1"}}, &event.Landed{ID: 1, OK: true}}, none, none},
		{"a landing that did not happen", []event.Event{land[0], &event.Landed{ID: 1}}, none, none},
		{"a landing that was undone", append(append([]event.Event{}, land...), &event.Undone{ID: 1}), none, none},
		{"accepted", append(append([]event.Event{}, land...), &event.Reviewed{Agent: "a2", Attempt: 1, Verdict: task.Accepted}), landed, none},
		{"sent back", []event.Event{race, &event.RetryAsked{Agent: "a1", After: 1}}, none, taken},
	} {
		settled := []event.Event{
			called(1, "one"), called(2, "two"),
			&event.Leased{Agent: "a1", Attempt: 1}, &event.Leased{Agent: "a2", Attempt: 1},
			&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{}},
			&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Completed{}},
		}
		v := Fold(Identity{}, record(append(settled, tt.give...)...))
		if one, two := v.Agent("a1").Choice(), v.Agent("a2").Choice(); one != tt.a1 || two != tt.a2 {
			t.Errorf("%s: %+v and %+v, want %+v and %+v", tt.name, one, two, tt.a1, tt.a2)
		}
	}
}

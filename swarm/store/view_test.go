package store

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// record numbers events and gives the n-th the time n.
func record(events ...event.Event) []event.Record {
	var all []event.Record
	for i, e := range events {
		n := int64(i + 1)
		all = append(all, event.Record{N: n, Time: time.Unix(n, 0).UTC(), Event: e})
	}
	return all
}

// story is a run with most kinds of events.
func story() []event.Record {
	return record(
		&event.Opened{Pid: 1, Version: "v"}, // 1
		called(1, "one"), called(2, "two"), called(3, "three"),
		&event.Leased{Agent: "a1", Attempt: 1, Dir: "d1"}, // 5
		&event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 10, Start: 1},
		&event.Leased{Agent: "a2", Attempt: 1, Dir: "d2"},
		&event.Started{Agent: "a2", Attempt: 1, Step: "setup", Pid: 11, Start: 2},
		&event.Ended{Agent: "a1", Attempt: 1},
		&event.Captured{Agent: "a1", Attempt: 1, Complete: true, Patch: &task.Patch{Commit: "c1"}}, // 10
		&event.Started{Agent: "a1", Attempt: 1, Step: "verify", Pid: 12, Start: 3},
		&event.Checked{Agent: "a1", Attempt: 1, OK: true},
		&event.Released{Agent: "a1", Attempt: 1},
		&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{Answer: "done"}},
		&event.Ended{Agent: "a2", Attempt: 1, Code: 1}, // 15
		&event.Retried{Agent: "a2", Attempt: 1, Error: task.StartFailed},
		&event.Leased{Agent: "a2", Attempt: 2, Dir: "d3", Admin: "m"},
		&event.Started{Agent: "a2", Attempt: 2, Step: "agent", Pid: 13, Start: 4},
		&event.CancelAsked{Agents: []task.ID{"a3", "a9"}, Cause: task.CauseCancelled},
		&event.Intended{ID: 1, Verb: "merge", Agents: []task.ID{"a1", "a2"}}, // 20
		&event.Landed{ID: 1, OK: true},
		&event.Intended{ID: 2, Verb: "apply", Agents: []task.ID{"a1"}},
		&event.Text{Text: "not a record of ours"},
		&event.Settled{Agent: "a9", Attempt: 1, Result: &task.Failed{Kind: task.Lost}},
	)
}

func TestFold(t *testing.T) {
	t.Parallel()
	v := Fold(Identity{Run: "k3x9q2"}, story())
	if v.Status != RunRunning || v.Last != 24 || len(v.Agents) != 3 || !v.Began.Equal(time.Unix(1, 0)) {
		t.Errorf("view = %+v", v)
	}
	a1, a2, a3 := v.Agents[0], v.Agents[1], v.Agents[2]
	if done, ok := a1.Result().(*task.Completed); !ok || done.Answer != "done" {
		t.Errorf("a1 is %v", a1.Status)
	}
	if len(a1.Leases) != 0 || a1.Lease() != nil || len(a1.Supervisors) != 0 {
		t.Errorf("a1 still has %v, %v", a1.Leases, a1.Supervisors)
	}
	if a1.Captured == nil || a1.Checked == nil || !a1.Checked.OK || a1.Exit == nil {
		t.Errorf("a1 = %+v", a1)
	}
	if !a1.Asked.Equal(time.Unix(2, 0)) || !a1.Started.Equal(time.Unix(5, 0)) || !a1.Ended.Equal(time.Unix(14, 0)) {
		t.Errorf("times of a1: %v, %v, %v", a1.Asked, a1.Started, a1.Ended)
	}
	want := &task.Running{State: task.Working, Attempt: 2, Since: time.Unix(17, 0).UTC()}
	if !reflect.DeepEqual(a2.Status, task.Status(want)) || a2.Result() != nil || a2.Exit != nil || a2.Attempts != 2 {
		t.Errorf("a2 = %+v, status %+v", a2, a2.Status)
	}
	if len(a2.Leases) != 2 || a2.Lease().Dir != "d3" || len(a2.Supervisors) != 1 || a2.Supervisors[0].Pid != 13 {
		t.Errorf("a2 has %v, %v", a2.Leases, a2.Supervisors)
	}
	if task.Word(a3.Status) != "queued" || !a3.ByName() || a2.ByName() || v.Agent("a9") != nil {
		t.Errorf("a3 = %+v", a3)
	}
	if !slices.Equal(a1.Landings, []int{1}) || !v.Landing(1).Stands() || v.Landing(2).Outcome != nil || v.Landing(3) != nil {
		t.Errorf("landings of a1: %v of %v", a1.Landings, v.Landings)
	}
}

func TestFoldOfWhatComesAfter(t *testing.T) {
	t.Parallel()
	v := Fold(Identity{}, story())
	next := v.Last
	apply := func(e event.Event) {
		next++
		v.Apply(event.Record{N: next, Time: time.Unix(next, 0), Event: e})
	}
	apply(&event.Landed{ID: 2, OK: false})
	apply(&event.Undone{ID: 1})
	if a := v.Agent("a1"); len(a.Landings) != 0 || v.Landing(1).Stands() || v.Landing(2).Stands() {
		t.Errorf("undone landings stand: %v", a.Landings)
	}
	apply(&event.CancelAsked{Cause: task.CauseStopped})
	apply(&event.Settled{Agent: "a2", Attempt: 2, Result: &task.Cancelled{Cause: task.CauseStopped}})
	apply(&event.Closed{Status: "stopped", Reason: "SIGINT", Code: 130})
	if v.Status != RunStopped || v.Reason != "SIGINT" || v.Code != 130 || v.Ended.IsZero() || v.Stop == nil {
		t.Errorf("a stopped run is %+v", v)
	}
	apply(&event.Opened{Pid: 2, Resumed: true})
	if v.Status != RunRunning || v.Reason != "" || v.Code != 0 || !v.Ended.IsZero() || v.Stop != nil || v.Resumed != 1 {
		t.Errorf("a resumed run is %+v", v)
	}
	apply(&event.Leased{Agent: "a2", Attempt: 3})
	apply(&event.Leased{Agent: "a2", Attempt: 3, Admin: "m3"}) // once it is made
	a2 := v.Agent("a2")
	if task.Word(a2.Status) != "running" || a2.Attempt != 3 || !a2.Ended.IsZero() || len(a2.Leases) != 3 || a2.Lease().Admin != "m3" {
		t.Errorf("a resumed agent is %+v", a2)
	}
}

// TestTook checks that the time between a stop and a resume does not count, nor
// that between the last record of an owner that was killed and its resume.
func TestTook(t *testing.T) {
	t.Parallel()
	at := func(second int64, e event.Event) event.Record {
		return event.Record{N: second, Time: time.Unix(second, 0), Event: e}
	}
	open, close := &event.Opened{Pid: 1}, &event.Closed{Status: "stopped"}
	for name, tt := range map[string]struct {
		records []event.Record
		died    bool
		want    time.Duration
	}{
		"goes on":                    {[]event.Record{at(10, open)}, false, 90 * time.Second},
		"ended":                      {[]event.Record{at(10, open), at(15, close)}, false, 5 * time.Second},
		"was never opened":           {nil, false, 0},
		"ended, of a clock set back": {[]event.Record{at(15, open), at(10, close)}, false, 0},
		"stopped and resumed":        {[]event.Record{at(10, open), at(15, close), at(80, open), at(82, close)}, false, 7 * time.Second},
		"resumed, and goes on":       {[]event.Record{at(10, open), at(15, close), at(80, open)}, false, 25 * time.Second},
		"killed and resumed":         {[]event.Record{at(10, open), at(12, called(1, "one")), at(80, open), at(81, close)}, false, 3 * time.Second},
		"killed":                     {[]event.Record{at(10, open), at(12, called(1, "one"))}, true, 2 * time.Second},
	} {
		v := Fold(Identity{}, tt.records)
		v.Died = tt.died
		if got := v.Took(time.Unix(100, 0)); got != tt.want {
			t.Errorf("%s: took %s, want %s", name, got, tt.want)
		}
	}
}

func TestAgentsAreInCallOrder(t *testing.T) {
	t.Parallel()
	v := Fold(Identity{}, record(called(10, ""), called(2, ""), called(1, ""), called(2, "again")))
	var got []task.ID
	for _, a := range v.Agents {
		got = append(got, a.ID)
	}
	if !slices.Equal(got, []task.ID{"a1", "a2", "a10"}) || v.Agent("a2").Call.Label != "" {
		t.Errorf("agents = %v", got)
	}
}

func TestViewKnowsWhetherTheOwnerDied(t *testing.T) {
	t.Parallel()
	r, o := created(t, scratch(t))
	mustAppend(t, o, &event.Opened{Pid: 1})
	status := func(want Status, died bool) {
		t.Helper()
		v, err := r.View()
		if err != nil || v.Status != want || v.Died != died || v.Identity.Run != r.ID {
			t.Errorf("View = %+v, %v, want %s, died %v", v, err, want, died)
		}
	}
	status(RunRunning, false)
	mustClose(t, o)
	status(RunStopped, true)
	again, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, again, &event.Opened{Pid: 2, Resumed: true}, &event.Closed{Status: "completed"})
	mustClose(t, again)
	status(RunCompleted, false)
}

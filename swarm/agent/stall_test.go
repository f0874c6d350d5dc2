package agent

import (
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// TestQuietLimit checks that an agent that waits for its model has a shorter
// idle limit than an agent whose tool runs.
func TestQuietLimit(t *testing.T) {
	t.Parallel()
	start, end := &event.ToolStart{ID: "1", Name: "bash"}, &event.ToolEnd{ID: "1", OK: true}
	for _, test := range []struct {
		name        string
		idle, stall time.Duration
		seen        []event.Event
		want        time.Duration
	}{
		{"its model", time.Hour, time.Minute, nil, time.Minute},
		{"no other limit", 0, time.Minute, nil, time.Minute},
		{"a shorter one", time.Second, time.Minute, nil, time.Second},
		{"a tool", time.Hour, time.Minute, []event.Event{start}, time.Hour},
		{"a tool that ended", time.Hour, time.Minute, []event.Event{start, end}, time.Minute},
		{"it has answered", time.Hour, time.Minute, []event.Event{&event.Answered{Text: "ok"}}, time.Hour},
		{"a command", time.Hour, 0, nil, time.Hour},
	} {
		life := &Life{Adapter: &script{}, Spec: &Spec{IdleTimeout: test.idle, Success: SuccessAnswer}, Stall: test.stall}
		w := watcher{life: life, read: &reader{life: life, outcome: &Outcome{}}}
		w.read.see(test.seen)
		if got := w.quietLimit(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestIdleModel checks that an agent which is idle while it waits for its model
// is ended for that, whichever limit is the shorter.
func TestIdleModel(t *testing.T) {
	t.Parallel()
	start := &event.ToolStart{ID: "1", Name: "bash"}
	for _, test := range []struct {
		name              string
		idle, stall, want time.Duration
		seen              []event.Event
	}{
		{"stall", time.Hour, time.Minute, time.Minute, nil},
		{"idle time-out", time.Second, time.Minute, time.Second, nil},
		{"tool", time.Second, time.Minute, 0, []event.Event{start}},
		{"command", time.Second, 0, 0, nil},
	} {
		life := &Life{Adapter: &script{}, Spec: &Spec{IdleTimeout: test.idle, Success: SuccessAnswer}, Stall: test.stall}
		w := watcher{life: life, read: &reader{life: life, outcome: &Outcome{}, line: &Line{}}}
		w.read.see(test.seen)
		if ends := w.idles(printed{}); !ends || w.read.outcome.Stalled != test.want {
			t.Errorf("%s: it ends is %t, stalled for %s, want %s", test.name, ends, w.read.outcome.Stalled, test.want)
		}
	}
}

// TestHopeless checks that an agent is ended which repeats a request that its
// quota does not allow, and that a later owner judges it alike.
func TestHopeless(t *testing.T) {
	t.Parallel()
	o := &Outcome{}
	r := &reader{life: &Life{Spec: &Spec{Success: SuccessAnswer}}, outcome: o}
	r.see([]event.Event{&event.Retry{Kind: task.RateLimit, Message: "slow down"}})
	if o.Hopeless != nil {
		t.Error("a rate limit is taken for hopeless")
	}
	r.see([]event.Event{&event.Retry{Kind: task.Quota, Message: "insufficient_quota"}})
	o.Exit = proc.Exit{Reason: proc.Exited, Signal: "SIGTERM"}
	ok, kind, reason := o.Judge(r.life.Spec, false)
	if ok || kind != task.Quota || reason != "insufficient_quota" {
		t.Errorf("it is judged %t, %s, %q", ok, kind, reason)
	}
}

// TestNobodyListens checks that an agent is ended after half a minute of
// attempts to reach a server. An agent whose model answered meanwhile is not.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	again := &event.Retry{Kind: task.Overloaded, Message: "connect ECONNREFUSED 127.0.0.1:9"}
	for _, answered := range []bool{false, true} {
		r := &reader{life: &Life{Spec: &Spec{}}, outcome: &Outcome{}, line: &Line{}}
		r.see([]event.Event{again})
		if answered {
			r.see([]event.Event{&event.Turn{N: 1}, again})
		}
		if r.outcome.Hopeless != nil {
			t.Error("it is ended at once")
		}
		if !answered {
			r.refused = r.refused.Add(-hopelessAfter)
		}
		r.see([]event.Event{again})
		if got := r.outcome.Hopeless != nil; got == answered {
			t.Errorf("answered meanwhile: %t, ended: %t", answered, got)
		}
	}
}

// TestJudgeStalled checks that the reason names the model.
func TestJudgeStalled(t *testing.T) {
	t.Parallel()
	o := &Outcome{Limit: task.IdleTimeout, Stalled: time.Minute}
	if _, kind, reason := o.Judge(&Spec{}, false); kind != task.IdleTimeout || !strings.Contains(reason, "its model sent nothing for 1m0s") {
		t.Errorf("it is judged %s, %q", kind, reason)
	}
}

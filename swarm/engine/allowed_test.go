package engine

import (
	"strings"
	"testing"
	"time"

	"agentswarm/risk"
	"agentswarm/swarm/task"
)

// TestGuardAfterHook checks that an approved call begins once without another
// question, and that no other call does.
func TestGuardAfterHook(t *testing.T) {
	t.Parallel()
	r, w := judging(t, `may "call x"; begin "call x"; begin "call x"; may "grave"; begin "grave"; begin "call y"`)
	now := time.Now()
	r.deps.Now = func() time.Time { return now } // no program begins too late
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(mine()); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		command string
		allow   bool
	}{{"call x", true}, {"call x", false}, {"grave", true}, {"grave", false}, {"call y", false}} {
		for len(r.view().Questions) <= i {
			time.Sleep(time.Millisecond) // a poll for a process
		}
		if err := answerTo(e, shown(r.view().Questions[i].ID, c.command, c.allow, "")); err != nil {
			t.Fatal(err)
		}
	}
	is(t, "status", task.Word(settled(e).Result), "completed")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "may", strings.Join(r.lines("may.a1"), " "), "0 0 126 0 126 126")
	is(t, "record", w.record(), "a1 call x false person; a1 call x true person; a1 call x true rule; "+
		"a1 call y false person; a1 grave false person; a1 grave true person")
}

// TestAllowed holds which calls may begin.
func TestAllowed(t *testing.T) {
	t.Parallel()
	ruling := func(agent task.ID, attempt int, call string, guard bool) *Ruling {
		return &Ruling{Call: call, Verdict: risk.Ask, Request: JudgeRequest{Agent: agent, Attempt: attempt, Guard: guard}}
	}
	now := time.Now()
	for _, tt := range []struct {
		name string
		add  *Ruling
		take *Ruling
		at   time.Duration
		want bool
	}{
		{"the call", ruling("a1", 1, "rm", false), ruling("a1", 1, "rm", true), time.Second, true},
		{"late", ruling("a1", 1, "rm", false), ruling("a1", 1, "rm", true), allowedTime + 1, false},
		{"another call", ruling("a1", 1, "rm", false), ruling("a1", 1, "rm\x00-r", true), 0, false},
		{"another agent", ruling("a1", 1, "rm", false), ruling("a2", 1, "rm", true), 0, false},
		{"another attempt", ruling("a1", 1, "rm", false), ruling("a1", 2, "rm", true), 0, false},
		{"by a hook", ruling("a1", 1, "rm", false), ruling("a1", 1, "rm", false), 0, false},
		{"of a guard", ruling("a1", 1, "rm", true), ruling("a1", 1, "rm", true), 0, false},
		{"not known exactly", ruling("a1", 1, "", false), ruling("a1", 1, "", true), 0, false},
	} {
		var a allowed
		a.add(tt.add, now)
		if got := a.take(tt.take, now.Add(tt.at)); got != tt.want {
			t.Errorf("%s: take = %t, want %t", tt.name, got, tt.want)
		}
		if a.take(tt.take, now.Add(tt.at)) {
			t.Errorf("%s: it may begin twice", tt.name)
		}
	}
	var a allowed
	a.add(ruling("a1", 1, "old", false), now)
	a.add(ruling("a1", 1, "new", false), now.Add(time.Minute))
	if len(a) != 1 {
		t.Errorf("%d calls are kept, want the one that may still begin", len(a))
	}
}

package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestPause lets running agents continue and starts nothing more.
func TestPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := Open(t.Context(), r.deps, r.config, r.view())
	calls := []*task.Call{sh(`touch $RIG/up f; while ! test -e $RIG/go; do :; done`), sh(`touch $RIG/second`)}
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	if err := e.Pause("enough"); err != nil {
		t.Fatal(err)
	}
	<-e.Paused()
	select {
	case <-e.Halted():
		t.Error("halted while an agent is at work")
	default:
	}
	if err := e.Pause("again"); err != nil {
		t.Fatal(err)
	}
	// It takes calls, and starts none.
	if _, err := e.Start(sh(`touch $RIG/third`)); err != nil {
		t.Fatal(err)
	}
	touch(t, r, "go")
	is(t, "the one at work", task.Word(settled(e).Result), "completed")
	<-e.Halted()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	v := r.view()
	is(t, "agents", words(v), "completed queued queued")
	is(t, "captured", v.Agent("a1").Result().Done().Patch != nil, true)
	is(t, "reason", v.Pause.Reason, "enough")
	is(t, "after the end", e.Pause("late"), ErrClosed)

	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	all := r.play(calls...)
	is(t, "the first is replayed", all["a1"].Replayed, true)
	is(t, "the second", task.Word(all["a2"].Result), "completed")
}

// TestPauseThenStop ends the running agents of a paused run.
func TestPauseThenStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.Start(sh(`touch $RIG/up; while test -d $RIG; do :; done`)); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	if err := e.Pause("enough"); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(&Halt{Cause: task.CauseStopped, Reason: "now"}); err != nil {
		t.Fatal(err)
	}
	<-e.Halted()
	is(t, "cause", settled(e).Result.(*task.Cancelled).Cause, task.CauseStopped)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestPauseDoesNotWait queues both an agent that waits for its next attempt and
// an agent whose failure may pass.
func TestPauseDoesNotWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 1
	calls := r.paid(2, `
		test $SWARM_AGENT = a2 && { touch $RIG/up; while ! test -e $RIG/go; do :; done; }
		fail rate_limit slow 3000000`)
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	for r.reasons("a1") == "" {
		time.Sleep(time.Millisecond) // a poll for a process
	}
	if err := e.Pause("enough"); err != nil {
		t.Fatal(err)
	}
	touch(t, r, "go")
	<-e.Halted()
	if err := e.Close(); err != nil { // it would be most of an hour
		t.Fatal(err)
	}
	is(t, "agents", words(r.view()), "queued queued")
	is(t, "a2 is tried again", r.reasons("a2"), "1:rate_limit")
}

// TestBreakerPauses checks which failures count for the breaker of the engine.
func TestBreakerPauses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, want string
		reason           string
	}{
		{"auth", `fail auth no`, "failed queued queued queued queued queued queued", "a1 was not let in (auth: no); resume once it is"},
		{"alike", `fail other no`, "failed failed failed failed failed queued queued", "5 agents in a row failed alike (no); resume once that is mended"},
		{"not alike", `fail other $SWARM_AGENT`, "failed failed failed failed failed failed failed", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Jobs = 1
			calls := r.paid(7, test.text)
			if test.reason == "" {
				r.play(calls...)
			} else {
				is(t, "reason", r.rest(calls...).Pause.Reason, test.reason)
			}
			is(t, "agents", words(r.view()), test.want)
		})
	}
}

// TestBreakerLetsCommandsFail checks that a command given with the call runs
// for every item.
func TestBreakerLetsCommandsFail(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	var calls []*task.Call
	for range 7 {
		calls = append(calls, sh("exit 1"))
	}
	r.play(calls...)
	is(t, "agents", words(r.view()), "failed failed failed failed failed failed failed")
}

// touch makes a file in the rig's folder.
func touch(t *testing.T, r *rig, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

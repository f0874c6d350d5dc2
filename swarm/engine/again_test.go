package engine

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// busy is a call that holds the only place until the rig is touched.
func busy() *task.Call {
	return named("busy", `touch "$RIG/up"; while ! test -e "$RIG/go"; do :; done`)
}

// start opens an engine with these calls.
func (r *rig) start(calls ...*task.Call) *Engine {
	r.t.Helper()
	e := Open(r.t.Context(), r.deps, r.config, nil)
	if _, err := e.StartAll(calls); err != nil {
		r.t.Fatal(err)
	}
	return e
}

// TestCancelEndsTheWait checks that an agent which waits for its next attempt
// ends at once when it is cancelled, and begins once when it is sent back.
func TestCancelEndsTheWait(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 1
	r.config.Agents = specs("mine", `
		touch f; test $SWARM_ATTEMPT = 2 && { printf '{"type":"result","text":"ok"}\n'; exit; }
		printf '{"type":"error","kind":"rate_limit","message":"busy","retry_after_ms":3600000}\n'`)
	e := r.start(&task.Call{
		Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "mine", Base: "base", BaseTree: "tree",
	})
	r.awaitQueued("a1", 1)
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	first := settled(e).Result
	if first.Done().Patch == nil {
		t.Errorf("what its attempt left is not in its result: %+v", first)
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	second := settled(e).Result
	is(t, "status", task.Word(second), "completed")
	is(t, "attempts", second.Done().Attempts, 2)
	if err := e.Close(); err != nil { // it waits for whatever waits
		t.Fatal(err)
	}
}

// awaitQueued waits until an agent is to begin its next attempt.
func (r *rig) awaitQueued(id task.ID, attempt int) {
	r.t.Helper()
	for {
		a := r.view().Agent(id)
		if s, ok := a.Status.(*task.Running); ok && s.State == task.Queued && a.Attempt == attempt {
			return
		}
		if r.t.Context().Err() != nil {
			r.t.Fatalf("%s was never queued", id)
		}
	}
}

// TestDependencySentBack checks that a queued agent waits again for a
// dependency that is sent back.
func TestDependencySentBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := r.start(
		named("a", `touch a; echo a >> "$RIG/order"`), busy(),
		named("c", `touch c; echo "c:$SWARM_BASE" >> "$RIG/order"`, "a"),
	)
	settled(e)
	r.await("up")
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	r.touch("go")
	r.collect(e, 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "order", r.lines("order"), []string{"a", "a", "c:base+a1"})
}

// TestCancelOfARetryKeepsTheWork checks that an agent keeps its work if a retry
// is cancelled before it began.
func TestCancelOfARetryKeepsTheWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := r.start(named("a", `ls > "$RIG/ls.$SWARM_ATTEMPT"; touch f`), busy())
	before := settled(e).Result.Done().Patch
	r.await("up")
	for range 2 { // the second retry continues from the kept work
		if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
			t.Fatal(err)
		}
		if p := settled(e).Result.Done().Patch; p == nil || p.Commit != before.Commit {
			t.Fatalf("its patch is %+v, want %+v", p, before)
		}
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	r.touch("go")
	r.collect(e, 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "the next attempt found", r.lines("ls.2"), []string{"f"})
}

// TestDiedBeforeTheAgent checks that a retry whose owner died before the agent
// started keeps the earlier work, and takes no half-filled workspace for work.
func TestDiedBeforeTheAgent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		admin string
	}{{"before the workspace", ""}, {"while it was filled", "admin"}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			call := sh("touch f g")
			r.play(call)
			work := r.view().Agent("a1").Captured.Patch
			lease := r.leasedAt("a1", 2)
			lease.Admin = test.admin
			r.append(&event.Opened{}, &event.RetryAsked{Agent: "a1", After: 1, From: work}, lease)
			captures := len(r.spaces.captured)
			died(t, r)
			a := r.view().Agent("a1")
			is(t, "result", word(a.Result()), "failed lost: swarm ended while it ran")
			is(t, "captures", len(r.spaces.captured)-captures, 0)
			is(t, "leases left", len(a.Leases), 0)
			if p := a.Result().Done().Patch; p == nil || p.Commit != work.Commit {
				t.Errorf("its patch is %+v, want %+v", p, work)
			}
		})
	}
}

// TestAcceptedStands checks that a resume does not pay again for work that
// somebody accepted, and builds on it.
func TestAcceptedStands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text string }{
		{"failed", "touch x; exit 3"}, {"out of scope", "touch x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			first := named("first", test.text)
			first.Paths = []string{"y"}
			calls := []*task.Call{first, named("second", "touch z", "first")}
			r.play(calls...)
			is(t, "the second at first", task.Word(r.view().Agent("a2").Result()), "cancelled")
			r.append(&event.Reviewed{Agent: "a1", Attempt: 1, Verdict: task.Accepted})
			r.play(calls...)
			v := r.view()
			is(t, "attempts of the first", v.Agent("a1").Attempt, 1)
			is(t, "the second", task.Word(v.Agent("a2").Result()), "completed")
			is(t, "what it started from", v.Agent("a2").Captured.Patch.Base, "base+a1")
			if v.Agent("a1").Review == nil {
				t.Error("the mark is gone")
			}
		})
	}
}

// TestRetryNamedTwice checks that an agent which is named twice begins once.
func TestRetryNamedTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.play(sh("touch f"))
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.StartAll(nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1", "a1"}}); err != nil {
		t.Fatal(err)
	}
	is(t, "attempts", settled(e).Result.Done().Attempts, 2)
	is(t, "finished", e.Finished(), true)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// died recovers a run as the first command after a crash does.
func died(t *testing.T, r *rig) {
	t.Helper()
	v := r.view()
	v.Status, v.Died = store.RunStopped, true
	if err := Recover(t.Context(), r.deps, r.config, v); err != nil {
		t.Fatal(err)
	}
}

// called is the record of a call as the engine would have made it.
func called(id task.ID, c *task.Call) *event.Called {
	kept := *c
	kept.Key = kept.Sum()
	return &event.Called{Agent: id, Call: &kept}
}

// leasedAt makes the workspace of an attempt, with work in it.
func (r *rig) leasedAt(id task.ID, n int) *event.Leased {
	r.t.Helper()
	name := task.AttemptName(id, n)
	dir := filepath.Join(r.spaces.root, name)
	if err := errors.Join(
		os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "work"), nil, 0o600),
		os.MkdirAll(r.deps.Run.Attempt(id, n), 0o700),
		os.WriteFile(filepath.Join(r.deps.Run.Attempt(id, n), "stdout"), []byte("the answer"), 0o600),
	); err != nil {
		r.t.Fatal(err)
	}
	return &event.Leased{Agent: id, Attempt: n, Backend: "worktree", Dir: dir, Admin: "/admin/" + name, Base: "base"}
}

// endedWell is the end of a process that printed "the answer".
func endedWell(id task.ID, n int) *event.Ended {
	return &event.Ended{Agent: id, Attempt: n, Stdout: 10}
}

func capturedAs(id task.ID, n int) *event.Captured {
	return &event.Captured{Agent: id, Attempt: n, Complete: true, Patch: &task.Patch{
		Ref: fmt.Sprintf("ref/%s/%d", id, n), Commit: "commit", Base: "base", Files: 1,
	}}
}

// word tells a result in short.
func word(r task.Result) string {
	switch r := r.(type) {
	case nil:
		return "none"
	case *task.Completed:
		if r.Verified == nil {
			return "completed " + r.Answer
		}
		return fmt.Sprintf("completed %s, verified %t", r.Answer, *r.Verified)
	case *task.Failed:
		return "failed " + string(r.Kind) + ": " + r.Reason
	case *task.Cancelled:
		return "cancelled " + string(r.Cause)
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// TestRecoverTimes checks that work settled by a later owner has the times and
// the files of the agent's last attempt, not the time of the recovery. The
// first attempt was refused before it had a workspace.
func TestRecoverTimes(t *testing.T) {
	t.Parallel()
	for _, verify := range []string{"", "true"} {
		t.Run(verify, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Verify = verify
			call := sh("true")
			r.append(called("a1", call), &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Failed{Kind: task.Refused}},
				&event.RetryAsked{Agent: "a1", After: 1}, r.leasedAt("a1", 2),
				&event.Ended{Agent: "a1", Attempt: 2, Error: task.Lost}, &event.Retried{Agent: "a1", Attempt: 2, Error: task.Lost},
				r.leasedAt("a1", 3), endedWell("a1", 3), capturedAs("a1", 3))
			began := r.view().Agent("a1").Began
			r.deps.Now = func() time.Time { return time.Now().Add(time.Hour) }
			died(t, r)
			work := r.play(call)["a1"].Result.Done()
			is(t, "attempt", work.Attempts, 3)
			is(t, "began", work.Started.Equal(began), true)
			is(t, "took less than an hour", work.Ended.Sub(work.Started) < time.Hour, true)
		})
	}
}

// TestRecover has owners that died after each of their records.
func TestRecover(t *testing.T) {
	t.Parallel()
	stop := &event.CancelAsked{Cause: task.CauseStopped, Reason: "signal"}
	byName := &event.CancelAsked{Agents: []task.ID{"a1"}, Cause: task.CauseCancelled, Reason: "asked"}
	unchecked := "failed lost: swarm ended before its work was checked; a resume runs the check alone"
	for _, test := range []struct {
		name   string
		verify string
		events func(r *rig) []event.Event
		want   string
		kept   string // captures made
		gone   string // workspaces let go
	}{
		{"called", "", func(*rig) []event.Event { return nil }, "none", "[]", "[]"},
		{"leasing", "", func(r *rig) []event.Event {
			l := r.leasedAt("a1", 1)
			l.Admin = ""
			return []event.Event{l}
		}, "failed lost: swarm ended while it ran", "[]", "[]"},
		{"leased", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1)}
		}, "failed lost: swarm ended while it ran", "[a1.1]", "[a1.1]"},
		{"ended", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1)}
		}, "completed the answer", "[a1.1]", "[a1.1]"},
		{"ended badly", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), &event.Ended{Agent: "a1", Attempt: 1, Code: 3}}
		}, "failed other: exit status 3", "[a1.1]", "[a1.1]"},
		{"too much output", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), &event.Ended{
				Agent: "a1", Attempt: 1, Code: 137, Signal: "SIGKILL", Error: task.OutputExceeded, Reason: "it printed much",
			}}
		}, "failed output_limit: it printed much", "[a1.1]", "[a1.1]"},
		{"captured", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1)}
		}, "completed the answer", "[]", "[a1.1 trash]"},
		{"captured, to be checked", "true", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1)}
		}, unchecked, "[]", "[a1.1 trash]"},
		{"checked", "true", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1), &event.Checked{Agent: "a1", Attempt: 1, OK: true}}
		}, "completed the answer, verified true", "[]", "[a1.1 trash]"},
		{"checked badly", "false", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1), &event.Checked{Agent: "a1", Attempt: 1, Code: 1}}
		}, "completed the answer, verified false", "[]", "[a1.1 trash]"},
		{"checked late", "true", func(r *rig) []event.Event {
			l := r.leasedAt("a1", 1)
			if err := os.RemoveAll(l.Dir); err != nil {
				r.t.Fatal(err)
			}
			return []event.Event{
				l, endedWell("a1", 1), capturedAs("a1", 1), &event.Released{Agent: "a1", Attempt: 1},
				&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Failed{Kind: task.Lost}},
				&event.Checked{Agent: "a1", Attempt: 1, OK: true},
			}
		}, "completed the answer, verified true", "[]", "[]"},
		{"settled", "", func(r *rig) []event.Event {
			return []event.Event{
				r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1),
				&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{Answer: "first"}},
			}
		}, "completed first", "[]", "[a1.1 trash]"},
		{"stopping", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), stop}
		}, "cancelled stopped", "[a1.1]", "[a1.1]"},
		{"stopped", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), stop, &event.Ended{Agent: "a1", Attempt: 1, Error: task.CauseStopped}}
		}, "cancelled stopped", "[a1.1]", "[a1.1]"},
		{"ended before the stop", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), endedWell("a1", 1), stop}
		}, "completed the answer", "[a1.1]", "[a1.1]"},
		{"cancelled by name", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), byName}
		}, "cancelled cancelled", "[a1.1]", "[a1.1]"},
		{"supervisor died", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), &event.Ended{Agent: "a1", Attempt: 1, Code: -1, Error: task.Lost, Reason: "gone"}}
		}, "failed lost: gone", "[a1.1]", "[a1.1]"},
		{"two attempts", "", func(r *rig) []event.Event {
			return []event.Event{r.leasedAt("a1", 1), r.leasedAt("a1", 2), endedWell("a1", 2)}
		}, "completed the answer", "[a1.1 a1.2]", "[a1.1 a1.2]"},
		{"workspace gone", "", func(r *rig) []event.Event {
			l := r.leasedAt("a1", 1)
			if err := os.RemoveAll(l.Dir); err != nil {
				r.t.Fatal(err)
			}
			return []event.Event{l}
		}, "failed capture_failed: ", "[a1.1]", "[a1.1 trash]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Verify = test.verify
			r.append(called("a1", sh("true")))
			r.append(test.events(r)...)
			for range 2 { // it may be done again
				died(t, r)
			}
			v := r.view()
			if got := word(v.Agent("a1").Result()); got != test.want && !(strings.HasSuffix(test.want, ": ") && strings.HasPrefix(got, test.want)) {
				t.Errorf("settled %q, want %q", got, test.want)
			}
			is(t, "captured", r.spaces.captured, test.kept)
			is(t, "released", r.spaces.released, test.gone)
			is(t, "leases left", len(v.Agent("a1").Leases), 0)
			is(t, "status", v.Status, store.RunStopped)
			if done := v.Agent("a1").Result(); done != nil && test.want == "completed the answer" && done.Done().Patch == nil {
				t.Error("its patch is not in its result")
			}
		})
	}
}

// TestRecoverEnds kills the living processes of a run.
func TestRecoverEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(sh(`touch $RIG/up; exec sleep 1000`)); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	// The live engine knows nothing of the recovery and continues. Its
	// workspace is left to it.
	v, deps := r.view(), r.deps
	v.Status, v.Died = store.RunStopped, true
	deps.Workspaces = &spaces{root: t.TempDir(), capture: func(string) error { return errors.New("it is another's") }}
	deps.Warn = func(string) {}
	if err := Recover(t.Context(), deps, r.config, v); err != nil {
		t.Fatal(err)
	}
	s := settled(e)
	// Which of the two is killed first, it or its supervisor, is not decided.
	if f, ok := s.Result.(*task.Failed); !ok || f.Kind != task.Lost && f.Kind != task.Killed {
		t.Errorf("settled %+v, want it lost or killed", s.Result)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecoverInterrupted must not take the end of its own context for a
// capture that failed.
func TestRecoverInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.append(called("a1", sh("true")), r.leasedAt("a1", 1))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	r.spaces.capture = func(string) error { cancel(enough); return nil }
	if err := Recover(ctx, r.deps, r.config, r.view()); !errors.Is(err, enough) {
		t.Errorf("Recover = %v, want the cause", err)
	}
	is(t, "records", r.kinds("a1"), "called leased")
}

// TestRecoverStrays moves unrecorded workspaces into the trash, and drops a
// workspace that served only a check.
func TestRecoverStrays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.append(called("a1", sh("true")), r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1),
		&event.Released{Agent: "a1", Attempt: 1})
	check := r.leasedAt("a1", 1)
	if err := os.Rename(check.Dir, check.Dir+checkSuffix); err != nil {
		t.Fatal(err)
	}
	check.Dir += checkSuffix
	r.append(check)
	if err := os.Mkdir(filepath.Join(r.spaces.root, "landing.1"), 0o700); err != nil {
		t.Fatal(err)
	}
	died(t, r)
	is(t, "captured", r.spaces.captured, "[]")
	is(t, "dropped", r.spaces.dropped, "[a1.1.check]")
	is(t, "released", r.spaces.released, "[landing.1 trash]")
}

// TestEndedIsInverse checks that an outcome read from the journal equals the
// live outcome.
func TestEndedIsInverse(t *testing.T) {
	t.Parallel()
	for _, kind := range task.Kinds() {
		e := &event.Ended{Code: 1, Signal: "SIGTERM", Reason: "r", Error: kind, Stdout: 3, Stderr: 4}
		out := outcomeOf(e)
		if halted(kind) {
			continue // its result is made without an outcome
		}
		back := endedEvent("", 0, out)
		switch kind {
		case task.Timeout, task.IdleTimeout, task.Lost, task.OutputExceeded, task.Quota, task.Overloaded:
			is(t, string(kind), *back, *e)
		default:
			is(t, string(kind), back.Error, "")
		}
	}
	lingered := &event.Ended{Signal: "SIGTERM", Lingered: true}
	is(t, "lingered", *endedEvent("", 0, outcomeOf(lingered)), *lingered)
}

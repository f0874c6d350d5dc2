package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
	"agentswarm/worktree/git"
)

// owing is a run whose agent ended well and was captured, and was not
// checked; its starts are counted.
func owing(t *testing.T, verify string) (*rig, *task.Call) {
	t.Helper()
	r := newRig(t)
	r.config.Verify, r.config.Setup = verify, "echo setup >> $RIG/setups"
	call := sh(`echo $SWARM_AGENT >> $RIG/starts`)
	r.append(called("a1", call), r.leasedAt("a1", 1), endedWell("a1", 1), capturedAs("a1", 1))
	died(t, r)
	return r, call
}

// TestRecheck resumes an agent that lacks nothing but its check.
func TestRecheck(t *testing.T) {
	t.Parallel()
	for _, verify := range []string{"true", "false"} {
		t.Run(verify, func(t *testing.T) {
			t.Parallel()
			r, call := owing(t, verify)
			r.config.MaxAgents = 1 // it is no new attempt
			var base git.Hash
			r.spaces.lease = func(name string) error { is(t, "workspace", name, "a1.1.check"); return nil }
			s := r.play(call)["a1"]
			is(t, "result", word(s.Result), "completed the answer, verified "+verify)
			is(t, "patch", s.Result.Done().Patch.Ref, "ref/a1/1")
			is(t, "attempts", s.Result.Done().Attempts, 1)
			is(t, "starts", r.lines("starts"), "[]")
			is(t, "setups", r.lines("setups"), "[setup]")
			is(t, "captured", r.spaces.captured, "[]")
			is(t, "dropped", r.spaces.dropped, "[a1.1.check]")
			v := r.view()
			is(t, "leases left", len(v.Agent("a1").Leases), 0)
			is(t, "journal", word(v.Agent("a1").Result()), "completed the answer, verified "+verify)
			records, err := r.deps.Run.Records()
			if err != nil {
				t.Fatal(err)
			}
			for _, rec := range records {
				if l, ok := rec.Event.(*event.Leased); ok && strings.HasSuffix(l.Dir, checkSuffix) {
					base = git.Hash(l.Base)
				}
			}
			is(t, "checked", base, "commit")
			// From now on it is completed like any other.
			is(t, "replayed", r.play(call)["a1"].Replayed, true)
		})
	}
}

// TestRecheckStopped stops a resume while the check runs. The next resume runs
// the check again, and nothing else.
func TestRecheckStopped(t *testing.T) {
	t.Parallel()
	r, call := owing(t, "touch $RIG/checking; test -e $RIG/go || exec sleep 1000")
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.Start(call); err != nil {
		t.Fatal(err)
	}
	r.await("checking")
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	res := r.view().Agent("a1").Result()
	is(t, "result", word(res), "cancelled stopped")
	is(t, "patch", res.Done().Patch != nil, true)
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	is(t, "resumed", word(r.play(call)["a1"].Result), "completed the answer, verified true")
	is(t, "starts", r.lines("starts"), "[]")
}

// TestRecheckDied dies at each record of a check of its own.
func TestRecheckDied(t *testing.T) {
	t.Parallel()
	crash := errors.New("crash")
	for at, kind := range []string{"leased", "leased", "started", "started", "checked", "settled", "released"} {
		t.Run(fmt.Sprint(at, " ", kind), func(t *testing.T) {
			t.Parallel()
			r, call := owing(t, "true")
			n := 0
			r.fail = func(e event.Event) error {
				if n++; n > at {
					is(t, "record", event.Kind(e), kind)
					n = -100
					return crash
				}
				return nil
			}
			e := Open(t.Context(), r.deps, r.config, r.view())
			if _, err := e.Start(call); err != nil {
				t.Fatal(err)
			}
			<-e.Halted()
			if err := e.Close(); !errors.Is(err, crash) {
				t.Fatalf("Close = %v", err)
			}
			r.mu.Lock()
			r.fail = nil
			r.mu.Unlock()
			died(t, r)
			is(t, "resumed", word(r.play(call)["a1"].Result), "completed the answer, verified true")
			is(t, "starts", r.lines("starts"), "[]")
			is(t, "captured", r.spaces.captured, "[]")
		})
	}
}

// TestCaptureLater repeats a capture that failed at the end of the agent, and
// does not run the agent again.
func TestCaptureLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	full := true
	r.spaces.capture = func(string) error {
		if full {
			return errors.New("no space")
		}
		return nil
	}
	call := sh(`echo $SWARM_AGENT >> $RIG/starts; touch x; printf 'the answer'`)
	is(t, "at first", strings.HasPrefix(word(r.play(call)["a1"].Result), "failed capture_failed"), true)
	// While it cannot be captured it is not paid for again.
	if err := Recover(t.Context(), r.deps, r.config, r.view()); err != nil {
		t.Fatal(err)
	}
	s := r.play(call)["a1"]
	is(t, "again", strings.HasPrefix(word(s.Result), "failed capture_failed"), true)
	is(t, "replayed", s.Replayed, true)
	full = false
	if err := Recover(t.Context(), r.deps, r.config, r.view()); err != nil {
		t.Fatal(err)
	}
	done := r.view().Agent("a1").Result()
	is(t, "at last", word(done), "completed the answer")
	is(t, "patch", done.Done().Patch != nil, true)
	is(t, "starts", r.lines("starts"), "[a1]")
	is(t, "released", r.spaces.released, "[a1.1]")
}

package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

func TestCompleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Setup, r.config.Verify = `echo s > setup.txt`, `test -e made.txt`
	call := sh(`cat setup.txt; echo x > made.txt; echo $SWARM_RUN $SWARM_AGENT $SWARM_ATTEMPT $SWARM_ITEM; test "$PWD" = "$SWARM_WORKTREE"`)
	call.Item = "pkg/x"
	got := r.play(call)["a1"]
	done, ok := got.Result.(*task.Completed)
	if !ok || got.Replayed {
		t.Fatalf("settled %+v", got.Result)
	}
	is(t, "answer", done.Answer, "s\n"+r.deps.Run.ID+" a1 1 pkg/x\n")
	is(t, "verified", *done.Verified, true)
	is(t, "patch", done.Patch.Ref, captureref.Attempt(r.deps.Run.ID, "a1", 1))
	is(t, "records", r.kinds("a1"),
		"called leased leased started:setup started:agent ended captured started:verify checked settled released")
	is(t, "released", r.spaces.released, "[a1.1]")
	if e := Open(t.Context(), r.deps, r.config, r.view()); e.Supervises(1) || e.Close() != nil {
		t.Error("a pid that is not ours supervises")
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		setup  string
		verify string
		call   string
		want   string // kind and reason, or "verified false"
		notes  string
	}{
		{"exit code", "", "", `echo why >&2; exit 3`, "other exit status 3: why", ""},
		{"signal", "", "", `kill -9 $$`, "killed ended by SIGKILL", ""},
		{"timeout", "", "", `sleep 1000`, "timeout ran longer than 300ms", ""},
		{"setup", "echo no >&2; exit 4", "", `true`, "start_failed setup: exit status 4: no", ""},
		{"check", "", "echo bad; exit 1", `touch x`, "verified false", "[verify: exit status 1: bad]"},
		{"nothing to check", "", "exit 1", `true`, "completed", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Setup, r.config.Verify = test.setup, test.verify
			if test.name == "timeout" {
				r.config.Timeout = 300 * time.Millisecond
			}
			var got string
			switch res := r.play(sh(test.call))["a1"].Result.(type) {
			case *task.Failed:
				got = string(res.Kind) + " " + res.Reason
			case *task.Completed:
				got = "completed"
				if res.Verified != nil {
					got = fmt.Sprint("verified ", *res.Verified)
				}
				if test.notes != "" {
					is(t, "notes", res.Notes, test.notes)
				}
			}
			is(t, "result", got, test.want)
			is(t, "released", r.spaces.released, "[a1.1]")
		})
	}
}

// TestUnknownAgent has a call of an agent that is not recorded with the run.
func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	unknown, other := sh(""), sh("true")
	unknown.Agent = "ghost"
	r.config.Agents = map[string]*agent.Spec{}
	all := r.play(unknown, other)
	failed, ok := all["a1"].Result.(*task.Failed)
	if !ok || failed.Kind != task.StartFailed || !strings.Contains(failed.Reason, `"ghost"`) {
		t.Errorf("settled %+v", all["a1"].Result)
	}
	if _, ok := all["a2"].Result.(*task.Completed); !ok {
		t.Errorf("the other one became %+v", all["a2"].Result)
	}
}

// TestJobs starts agents in call order, never more at once than allowed, and
// as many.
func TestJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 2
	var calls []*task.Call
	for i := range 6 {
		// Each agent but the last waits until the next lives.
		calls = append(calls, sh(fmt.Sprintf(`touch $RIG/live.$SWARM_AGENT $RIG/came.$SWARM_AGENT
			until test $SWARM_AGENT = a6 -o -e $RIG/came.a%d; do sleep 0.01; done
			ls $RIG | grep -c live >> $RIG/counts; rm $RIG/live.$SWARM_AGENT`, i+2)))
	}
	r.play(calls...)
	for _, n := range r.lines("counts") {
		if n != "1" && n != "2" {
			t.Errorf("%s agents lived at once", n)
		}
	}
	is(t, "agents", len(r.lines("counts")), 6)
	var order []string
	records, err := r.deps.Run.Records()
	if err != nil {
		t.Fatal(err)
	}
	live := 0
	for _, rec := range records {
		switch e := rec.Event.(type) {
		case *event.Leased:
			if e.Admin == "" {
				live++
				order = append(order, string(e.Agent))
			}
		case *event.Settled:
			live--
		}
		if live > 2 {
			t.Errorf("%d attempts at once", live)
		}
	}
	// The first two may overtake each other between the loop and the journal.
	for i, id := range order {
		if n := task.ID(id).Number(); n < i || n > i+2 {
			t.Errorf("started in the order %v", order)
			break
		}
	}
}

func TestSetJobs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := Open(t.Context(), r.deps, r.config, nil)
	for i := range 2 {
		if _, err := e.Start(sh(fmt.Sprintf(`: %d; touch $RIG/$SWARM_AGENT; until test -e $RIG/a2; do sleep 0.01; done`, i))); err != nil {
			t.Fatal(err)
		}
	}
	r.await("a1")
	e.SetJobs(2) // or a1 waits for ever
	r.collect(e, 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	e := Open(t.Context(), r.deps, r.config, nil)
	for _, text := range []string{`echo x > x; touch $RIG/a1; exec sleep 1000`, `touch $RIG/a2`, `touch $RIG/a3`} {
		if _, err := e.Start(sh(text)); err != nil {
			t.Fatal(err)
		}
	}
	r.await("a1")
	halt := &Halt{Cause: task.CauseCancelled, Reason: "asked"}
	if err := e.Cancel([]task.ID{"a9"}, halt); err == nil || err.Error() != "no agent a9 in this run" {
		t.Errorf("Cancel of nobody = %v", err)
	}
	if err := e.Cancel([]task.ID{"a2", "a1"}, halt); err != nil {
		t.Fatal(err)
	}
	all := r.collect(e, 3)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []task.ID{"a1", "a2"} {
		c, ok := all[id].Result.(*task.Cancelled)
		if !ok || c.Cause != task.CauseCancelled || c.Reason != "asked" || (c.Patch != nil) != (id == "a1") {
			t.Errorf("%s settled %+v", id, all[id].Result)
		}
	}
	is(t, "a2", r.lines("a2"), "[]")
	if _, ok := all["a3"].Result.(*task.Completed); !ok {
		t.Errorf("a3 settled %+v", all["a3"].Result)
	}
	is(t, "records of a2", r.kinds("a2"), "called settled")
	// An agent cancelled by name stays cancelled.
	again := r.play(sh(`echo x > x; touch $RIG/a1; exec sleep 1000`), sh(`touch $RIG/a2`), sh(`touch $RIG/a3`))
	for id, s := range again {
		is(t, string(id)+" is replayed", s.Replayed, true)
	}
	if err := e.Cancel([]task.ID{"a1"}, halt); !errors.Is(err, ErrClosed) {
		t.Errorf("Cancel after Close = %v", err)
	}
	if _, err := e.Start(sh("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("Start after Close = %v", err)
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs = 1
	calls := []*task.Call{
		sh(`echo $SWARM_AGENT >> $RIG/starts; echo x > x; touch $RIG/up; test -e $RIG/go || exec sleep 1000`),
		sh(`echo $SWARM_AGENT >> $RIG/starts`),
	}
	e := Open(t.Context(), r.deps, r.config, nil)
	for _, c := range calls {
		if _, err := e.Start(c); err != nil {
			t.Fatal(err)
		}
	}
	r.await("up")
	if err := e.Stop(&Halt{Cause: task.CauseStopped, Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	<-e.Halted()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	v := r.view()
	c, ok := v.Agent("a1").Status.(*task.Cancelled)
	if !ok || c.Cause != task.CauseStopped || c.Patch == nil || v.Agent("a1").Exit.Error != task.CauseStopped {
		t.Errorf("a1 is %+v, exit %+v", v.Agent("a1").Status, v.Agent("a1").Exit)
	}
	is(t, "a2", task.Word(v.Agent("a2").Status), "queued")
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for id, s := range r.play(calls...) {
		if _, ok := s.Result.(*task.Completed); !ok || s.Replayed {
			t.Errorf("%s resumed to %+v", id, s.Result)
		}
	}
	is(t, "starts", r.lines("starts"), "[a1 a1 a2]")
}

func TestReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := func() *task.Call { return sh(`echo $SWARM_AGENT >> $RIG/starts; echo answer`) }
	first := r.play(call(), call(), sh(`echo $SWARM_AGENT >> $RIG/starts; exit 1`))
	second := r.play(call(), call(), sh(`echo $SWARM_AGENT >> $RIG/starts; exit 1`), sh(`echo $SWARM_AGENT >> $RIG/starts; echo new`))
	for _, id := range []task.ID{"a1", "a2"} {
		if !second[id].Replayed || second[id].Result.(*task.Completed).Answer != first[id].Result.(*task.Completed).Answer {
			t.Errorf("%s became %+v", id, second[id])
		}
	}
	is(t, "attempts of what failed", second["a3"].Result.Done().Attempts, 2)
	is(t, "the new one is replayed", second["a4"].Replayed, false)
	is(t, "number of starts", len(r.lines("starts")), 5)
}

// TestStartRetried fails to start for a while, for good, and too often.
func TestStartRetried(t *testing.T) {
	t.Parallel()
	busy := &proc.StartError{Temporary: true, Err: errors.New("busy")}
	for _, test := range []struct {
		name     string
		failures int
		err      error
		max      int
		want     string
		retried  int
	}{
		{"passes", 2, busy, 100, "completed", 2},
		{"does not pass", 100, busy, 100, "failed start_failed", 3},
		{"for good", 100, errors.New("no such thing"), 100, "failed start_failed", 0},
		{"more than may start", 100, busy, 2, "failed refused", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.MaxAgents = test.max
			left := test.failures
			r.spaces.lease = func(string) error {
				if left--; left >= 0 {
					return test.err
				}
				return nil
			}
			s := r.play(sh("true"))["a1"]
			got := task.Word(s.Result)
			if f, ok := s.Result.(*task.Failed); ok {
				got += " " + string(f.Kind)
			}
			is(t, "result", got, test.want)
			is(t, "retried", strings.Count(r.kinds("a1"), "retried"), test.retried)
			if left := r.view().Agent("a1").Leases; len(left) > 0 {
				t.Errorf("workspaces that were not made are left: %+v", left)
			}
		})
	}
}

func TestMaxAgents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.MaxAgents = 2
	all := r.play(sh(": 1"), sh(": 2"), sh(": 3"))
	failed, ok := all["a3"].Result.(*task.Failed)
	if !ok || failed.Kind != task.Refused || failed.Reason != "the run has started its 2 agents (--max-agents)" {
		t.Errorf("a3 settled %+v", all["a3"].Result)
	}
	is(t, "records", r.kinds("a3"), "called settled")
}

// TestWaitForCheckIsTold checks that the journal records the wait of an attempt
// for its check, while another check runs.
func TestWaitForCheckIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Cores = 1
	// The first check ends once the other attempt waits, which this test sees.
	r.config.Verify = `until test -e $RIG/go; do sleep 0.01; done`
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.play(sh("touch 1"), sh("touch 2"))
	}()
	contains(t, "reason", r.held(1)[0], " waiting for a check (1 at once)")
	states := map[task.State]int{}
	for _, a := range r.view().Agents {
		if s, ok := a.Status.(*task.Running); ok {
			states[s.State]++
		}
	}
	if states[task.WaitingCheck] != 1 || states[task.Checking] > 1 {
		t.Errorf("the states are %v", states)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Error(err)
	}
	<-done
}

// TestVerifySemaphore has checks that fail if two run at once.
func TestVerifySemaphore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.deps.Cores = 1
	r.config.Verify = `mkdir $RIG/lock && sleep 0.02 && rmdir $RIG/lock`
	for id, s := range r.play(sh("touch 1"), sh("touch 2"), sh("touch 3"), sh("touch 4")) {
		if done, ok := s.Result.(*task.Completed); !ok || !*done.Verified {
			t.Errorf("%s: two checks ran at once: %+v", id, s.Result)
		}
	}
}

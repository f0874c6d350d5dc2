package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// touch makes a file in the rig's folder.
func (r *rig) touch(name string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// asking is a call of a text of sh with a prompt, which it finds in a file.
func asking(r *rig, prompt, text string) *task.Call {
	c := sh(text)
	c.Input = &task.TypedAgentInput{Prompt: prompt}
	return c
}

// prompt reads the prompt of an attempt.
func (r *rig) prompt(id task.ID, attempt int) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.deps.Run.Attempt(id, attempt), "prompt"))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

func TestRetryGoesOnWithTheWork(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	call := asking(r, "do it\n", `ls > "$RIG/ls.$SWARM_ATTEMPT"; touch "f$SWARM_ATTEMPT"`)
	if _, err := e.Start(call); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}, Feedback: "more"}); err != nil {
		t.Fatal(err)
	}
	second := settled(e)
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}, Feedback: "less", Fresh: true}); err != nil {
		t.Fatal(err)
	}
	third := settled(e)
	if !e.Finished() {
		t.Error("there is nothing left to do, and the engine is not finished")
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); !errors.Is(err, ErrOver) {
		t.Errorf("a finished engine took a wish: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "the second found", r.lines("ls.2"), []string{"f1"})
	is(t, "the third found", r.lines("ls.3"), []string{})
	is(t, "files of the second", second.Result.Done().Patch.Files, 2)
	is(t, "files of the third", third.Result.Done().Patch.Files, 1)
	is(t, "attempts", third.Result.Done().Attempts, 3)
	const said = "do it\n\nThis was tried before. Feedback on earlier attempts, oldest first:\n\nmore\n"
	is(t, "the first prompt", r.prompt("a1", 1), "do it\n")
	is(t, "the second prompt", r.prompt("a1", 2), said)
	is(t, "the third prompt", r.prompt("a1", 3), said+"\nless\n")
	for n, ref := range []string{"a/a1/1", "a/a1/2", "a/a1/3"} {
		if !strings.HasSuffix(captureref.Attempt(r.deps.Run.ID, "a1", n+1), ref) {
			t.Errorf("attempt %d goes to %s", n+1, captureref.Attempt(r.deps.Run.ID, "a1", n+1))
		}
	}
}

func TestRetryRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	for _, text := range []string{"true", `touch "$RIG/up"; while ! test -e "$RIG/go"; do :; done`} {
		if _, err := e.Start(sh(text)); err != nil {
			t.Fatal(err)
		}
	}
	settled(e)
	r.await("up")
	var busy *NotEndedError
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1", "a2"}}); !errors.As(err, &busy) || busy.Agent != "a2" {
		t.Errorf("a running agent: %v", err)
	}
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a9"}}); err == nil {
		t.Error("an unknown agent was taken")
	}
	r.touch("go")
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "attempts of the one that could", r.view().Agent("a1").Attempt, 1)
}

// TestRetryOfALaterOwner checks that a wish for a retry survives its owner.
func TestRetryOfALaterOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := asking(r, "do it", `touch "f$SWARM_ATTEMPT"`)
	r.play(call)
	r.append(&event.RetryAsked{Agent: "a1", After: 1, Feedback: "more", From: r.view().Agent("a1").Captured.Patch})
	v := r.view()
	if err := Recover(t.Context(), r.deps, r.config, v); err != nil {
		t.Fatal(err)
	}
	if a := r.view().Agent("a1"); a.Result() != nil || !a.Pending() {
		t.Fatalf("an agent that is to begin anew was settled: %+v", a.Status)
	}
	all := r.play(call)
	is(t, "files", all["a1"].Result.Done().Patch.Files, 2)
	if !strings.Contains(r.prompt("a1", 2), "more") {
		t.Errorf("the remark is lost: %q", r.prompt("a1", 2))
	}
}

func TestRetryUndoesACancel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := Open(t.Context(), r.deps, r.config, nil)
	if _, err := e.Start(sh(`test $SWARM_ATTEMPT = 2 && exit; touch "$RIG/up"; sleep 1000`)); err != nil {
		t.Fatal(err)
	}
	r.await("up")
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); err != nil {
		t.Fatal(err)
	}
	if s := settled(e); s.Result.Done().Attempts != 2 {
		t.Errorf("it settled as %+v", s.Result)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if a := r.view().Agent("a1"); a.ByName() {
		t.Error("the journal still says that it was cancelled by name")
	}
}

func TestRestoreThatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := sh("touch f")
	r.play(call)
	lost := *r.view().Agent("a1").Captured.Patch
	lost.Commit = "gone"
	r.append(&event.RetryAsked{Agent: "a1", After: 1, From: &lost})
	all := r.play(call)
	f, ok := all["a1"].Result.(*task.Failed)
	if !ok || f.Kind != task.StartFailed || f.Patch == nil || f.Patch.Commit != "gone" {
		t.Errorf("a1 = %+v, want failed, with the work it was to go on with", all["a1"].Result)
	}
	is(t, "dropped", r.spaces.dropped, []string{"a1.2"})
	is(t, "leases", len(r.view().Agent("a1").Leases), 0)
}

// failing is an agent of the protocol that reports an error twice and then
// does well.
func failing(r *rig, kind string) *task.Call {
	r.config.Agents = specs("mine", `
		printf '{"type":"usage","input":5}\n'
		test $SWARM_ATTEMPT -ge 3 && { printf '{"type":"result","text":"ok"}\n'; exit; }
		printf '{"type":"error","kind":"`+kind+`","message":"busy","retry_after_ms":1}\n'`)
	return &task.Call{
		Input: &task.TypedAgentInput{Prompt: "p"}, Agent: "mine", Base: "base", BaseTree: "tree",
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     string
		retries  int
		attempts int
		want     string
	}{
		{"rate_limit", 2, 3, "completed"},
		{"overloaded", 2, 3, "completed"},
		{"rate_limit", 1, 2, "failed"},
		{"rate_limit", 0, 1, "failed"},
		{"quota", 2, 1, "failed"},
		{"other", 2, 1, "failed"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.hurry()
			r.config.Retries = test.retries
			call := failing(r, test.kind)
			result := r.play(call)["a1"].Result
			is(t, "status", task.Word(result), test.want)
			is(t, "attempts", result.Done().Attempts, test.attempts)
			is(t, "tokens of all attempts", result.Done().Usage.Input, 5*test.attempts)
			is(t, "captures", len(r.spaces.captured), test.attempts)
		})
	}
}

func TestWaitFor(t *testing.T) {
	t.Parallel()
	for n := 1; n < 100; n++ {
		least := min(backOff<<min(n-1, 10), maxBackOff)
		if got := waitFor(n, 0); got < least || got > least*3/2 {
			t.Errorf("waitFor(%d) = %s", n, got)
		}
	}
	if got := waitFor(1, time.Hour); got != time.Hour {
		t.Errorf("an agent told to wait an hour waits %s", got)
	}
}

func TestManyCallsAreJournaledTogether(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var calls []*task.Call
	for range 50 {
		calls = append(calls, sh("true"))
	}
	e := Open(t.Context(), r.deps, r.config, nil)
	ids, err := e.StartAll(calls)
	if err != nil {
		t.Fatal(err)
	}
	is(t, "the last id", ids[49], "a50")
	r.collect(e, 50)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestResumedAgentsHaveNotEnded checks that an earlier failure is not taken for
// the end of the attempt that a resume owes.
func TestResumedAgentsHaveNotEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.play(sh("exit 1"))
	r.config.Jobs = 0 // nothing starts
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.Start(sh("exit 1")); err != nil {
		t.Fatal(err)
	}
	is(t, "its state", task.Word(r.view().Agent("a1").Status), "queued")
	if err := e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled}); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUsageOfALaterOwner checks that the usage of earlier attempts stays
// counted.
func TestUsageOfALaterOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := failing(r, "quota")
	is(t, "tokens of one attempt", r.play(call)["a1"].Result.Done().Usage.Input, 5)
	r.append(&event.RetryAsked{Agent: "a1", After: 1})
	is(t, "tokens of two", r.play(call)["a1"].Result.Done().Usage.Input, 10)
	is(t, "tokens of three", r.play(call)["a1"].Result.Done().Usage.Input, 15)
}

// TestUsageOfWhatDoesNotBegin checks that the usage of an agent stays counted
// if the agent was sent back, its owner died, and it does not begin again.
func TestUsageOfWhatDoesNotBegin(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := mine()
	r.append(called("a1", call), r.leasedAt("a1", 1), endedWell("a1", 1), &event.Captured{Agent: "a1", Attempt: 1},
		&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Failed{Kind: task.Other, Work: task.Work{Usage: task.Usage{Input: 5}}}},
		&event.RetryAsked{Agent: "a1", After: 1})
	r.config.Agents = specs("mine", "true")
	died(t, r)
	r.config.MaxAgents = 1
	result := r.play(call)["a1"].Result
	is(t, "result", endOf(result), "failed refused")
	is(t, "tokens", result.Done().Usage.Input, 5)
	is(t, "tokens of the run", r.view().Usage().Input, 5)
}

// TestRetryComesTooEarly checks that no agent is retried twice because a wish
// was faster than the calls of a resume.
func TestRetryComesTooEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := sh(`echo x >> "$RIG/runs"; exit 1`)
	r.play(call)
	e := Open(t.Context(), r.deps, r.config, r.view())
	if err := e.Retry(RetryRequest{Agents: []task.ID{"a1"}}); !errors.Is(err, ErrEarly) {
		t.Errorf("Retry = %v", err)
	}
	if _, err := e.Start(call); err != nil {
		t.Fatal(err)
	}
	settled(e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "how often it ran", len(r.lines("runs")), 2)
}

// TestAskedToWaitTooLong checks that an agent cannot hold a run up for years.
func TestAskedToWaitTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Retries = 3
	r.config.Agents = specs("mine", `printf '{"type":"error","kind":"rate_limit","message":"slow","retry_after_ms":1000000000000}\n'`)
	call := mine()
	result := r.play(call)["a1"].Result
	is(t, "attempts", result.Done().Attempts, 1)
	is(t, "status", task.Word(result), "failed")
	contains(t, "reason", result.(*task.Failed).Reason, "slow; the provider asked for a wait of ")
}

// TestUsageAfterABackOff checks that the usage of an attempt counts once if its
// owner died while it waited for a retry.
func TestUsageAfterABackOff(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	call := failing(r, "rate_limit")
	r.play(call)
	// As if the owner had died then: the same records, less the end.
	v := r.view()
	v.Apply(event.Record{N: v.Last + 1, Time: time.Now(), Event: &event.Retried{
		Agent: "a1", Attempt: 1, Error: task.RateLimit, Usage: &task.Usage{Input: 5},
	}})
	a := v.Agent("a1")
	is(t, "tokens", lostResult(r.deps, r.config, v, a, a.Captured).Done().Usage.Input, 5)
}

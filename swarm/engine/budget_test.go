package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// paid makes a text of sh an agent that reports its usage, and returns calls
// of it. `use N` reports tokens and `well` ends it well.
func (r *rig) paid(n int, text string) (calls []*task.Call) {
	r.config.Agents = map[string]*agent.Spec{"m": {
		Name: "m", Kind: agent.KindCommand, Command: []string{"sh", "-c", `
			use() { echo "{\"type\":\"usage\",\"output\":$1}"; }
			well() { echo '{"type":"result","text":"ok"}'; exit 0; }
			fail() { echo "{\"type\":\"error\",\"kind\":\"$1\",\"message\":\"$2\",\"retry_after_ms\":${3:-0}}"; exit 1; }
			` + text},
		Input: agent.InputNone, Format: agent.FormatJSONL, Success: agent.SuccessAnswer,
	}}
	for i := range n {
		calls = append(calls, &task.Call{
			Input: &task.TypedAgentInput{Prompt: fmt.Sprint(i)}, Agent: "m", Base: "base", BaseTree: "tree",
		})
	}
	return calls
}

// rest makes calls and waits until the run is paused and nothing runs.
func (r *rig) rest(calls ...*task.Call) *store.View {
	r.t.Helper()
	e := Open(r.t.Context(), r.deps, r.config, r.view())
	if _, err := e.StartAll(calls); err != nil {
		r.t.Fatal(err)
	}
	<-e.Halted()
	if err := e.Close(); err != nil {
		r.t.Fatal(err)
	}
	return r.view()
}

// words lists the states of a view's agents.
func words(v *store.View) string {
	var all []string
	for _, a := range v.Agents {
		all = append(all, task.Word(a.Status))
	}
	return strings.Join(all, " ")
}

func TestBudgetPauses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs, r.config.Budget.Tokens = 1, 150
	v := r.rest(r.paid(4, `touch f; use 100; well`)...)
	is(t, "agents", words(v), "completed completed queued queued")
	is(t, "cause", v.Pause.Cause, task.CauseBudget)
	is(t, "reason", v.Pause.Reason, "the budget is spent: 200 of 150 tokens")
	is(t, "spent", v.Spent(time.Time{}).Tokens, 200)

	// Another owner starts nothing with the same budget, and continues with
	// more.
	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	calls := r.paid(4, `touch f; use 100; well`)
	is(t, "agents", words(r.rest(calls...)), "completed completed queued queued")
	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	r.config.Budget.Tokens = 300
	v = r.rest(calls...)
	is(t, "agents", words(v), "completed completed completed queued")
	is(t, "spent", v.Usage().Output, 300)
	is(t, "inherited", v.Inherited.Output, 200)
}

// TestBudgetStops has an agent use more than the total and all reservations:
// all agents are stopped and captured.
func TestBudgetStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Budget.Tokens = 30_000
	calls := r.paid(3, `
		touch f; test $SWARM_AGENT = a1 && { use 9000; touch $RIG/one; }
		test $SWARM_AGENT = a2 && { while ! test -e $RIG/go; do :; done; use 61000; }
		touch $RIG/up-$SWARM_AGENT; while test -d $RIG; do :; done`)
	e := Open(t.Context(), r.deps, r.config, r.view())
	if _, err := e.StartAll(calls); err != nil {
		t.Fatal(err)
	}
	// The third waits: the first two may use 40,000.
	r.await("one")
	for e.Spent().Tokens == 0 {
		time.Sleep(time.Millisecond) // a poll of data from a pipe
	}
	is(t, "spent while it runs", e.Spent().Tokens, 9000)
	is(t, "of", e.Budget().Tokens, 30_000)
	if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-e.Halted()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	v := r.view()
	is(t, "agents", words(v), "cancelled cancelled queued")
	for _, a := range v.Agents[:2] {
		stopped := a.Result().(*task.Cancelled)
		is(t, "cause", stopped.Cause, task.CauseBudget)
		is(t, "captured", stopped.Patch != nil, true)
	}
	is(t, "reason", v.Pause.Reason, "the budget is spent: 70000 of 30000 tokens")
	// With more they are tried again.
	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	r.config.Budget.Tokens = 100_000
	calls = r.paid(3, `well`)
	all := r.play(calls...)
	is(t, "a1", task.Word(all["a1"].Result), "completed")
	is(t, "attempts", all["a1"].Result.Done().Attempts, 2)
	is(t, "a3", task.Word(all["a3"].Result), "completed")
}

// TestBudgetOfTimeStops does not wait for an agent to say anything.
func TestBudgetOfTimeStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Budget.Time = 50 * time.Millisecond
	// No time passes before it has changed something.
	began := time.Now()
	r.deps.Now = func() time.Time {
		if r.made("up") == 0 {
			return began
		}
		return time.Now().Add(time.Hour)
	}
	calls := r.paid(1, `touch f $RIG/up; while test -d $RIG; do :; done`)
	// Its kind is known to take no time: it reserves none.
	r.append(
		&event.Opened{}, &event.Called{Agent: "a1", Call: &task.Call{Key: "k", Agent: "m", Input: &task.TypedAgentInput{}}},
		&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{}},
		&event.Closed{Status: "completed"}, &event.Opened{Resumed: true},
	)
	v := r.rest(calls...)
	stopped, ok := v.Agent("a2").Result().(*task.Cancelled)
	if !ok || stopped.Cause != task.CauseBudget || stopped.Patch == nil {
		t.Errorf("a2 is %+v, want it stopped by the budget with its patch", v.Agent("a2").Status)
	}
}

// TestBudgetRemindsInOrder has several at work when the budget is spent: they are
// asked for their final answers in the order of their calls.
func TestBudgetRemindsInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Budget.Tokens = 10_000
	r.config.Agents = specs("mine", `printf '{"type":"session","can":["steer"]}\n'
		`+until("$RIG/go")+`printf '{"type":"result","text":"ok"}\n'`)
	var calls []*task.Call
	for range 4 {
		call := mine()
		call.Limits.Tokens = 1000
		calls = append(calls, call)
	}
	e := r.start(calls...)
	for _, id := range []task.ID{"a1", "a2", "a3", "a4"} {
		for l, err := e.Line(id); err != nil || l.Steers() != nil; l, err = e.Line(id) {
			time.Sleep(time.Millisecond) // a poll of data from a pipe
		}
	}
	const draws = 20
	e.do(func(context.Context) {
		e.account.Spend("a1", task.Usage{Output: 10_000})
		for range draws {
			e.account.reminded = false
			e.remindAll()
		}
	})
	r.touch("go")
	r.collect(e, 4)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	records, err := r.deps.Run.Records()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, rec := range records {
		if sent, ok := rec.Event.(*event.Sent); ok {
			order = append(order, string(sent.Agent))
		}
	}
	is(t, "order", strings.Join(order, " "), strings.TrimSpace(strings.Repeat("a1 a2 a3 a4 ", draws)))
}

// TestBudgetRefusesScripts checks that the calls of a script beyond the budget
// are cancelled, and the run is not paused.
func TestBudgetRefusesScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs, r.config.Budget.Tokens = 1, 50
	calls := r.paid(3, `use 100; well`)
	for _, c := range calls {
		c.Script = true
	}
	all := r.play(calls...)
	is(t, "a1", task.Word(all["a1"].Result), "completed")
	for _, id := range []task.ID{"a2", "a3"} {
		refused, ok := all[id].Result.(*task.Cancelled)
		if !ok || refused.Cause != task.CauseBudget || refused.Attempts != 0 {
			t.Errorf("%s is %+v, want it refused by the budget", id, all[id].Result)
		}
	}
	v := r.view()
	is(t, "paused", v.Pause != nil, false)
	// The refusal is not the end of it.
	r.append(&event.Closed{Status: "paused"}, &event.Opened{Resumed: true})
	r.config.Budget.Tokens = 500
	all = r.play(calls...)
	is(t, "a1 is replayed", all["a1"].Replayed, true)
	is(t, "a2", task.Word(all["a2"].Result), "completed")
}

// TestBudgetStopsScripts stops the running agents of a script without a pause.
func TestBudgetStopsScripts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Budget.Tokens = 50
	calls := r.paid(1, `use 90000; while test -d $RIG; do :; done`)
	calls[0].Script = true
	stopped, ok := r.play(calls...)["a1"].Result.(*task.Cancelled)
	if !ok || stopped.Cause != task.CauseBudget {
		t.Errorf("a1 is %+v, want it stopped by the budget", r.view().Agent("a1").Status)
	}
	is(t, "paused", r.view().Pause != nil, false)
}

// TestBudgetLetsChecksRun checks that an agent without its check is checked
// after the budget is spent.
func TestBudgetLetsChecksRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Jobs, r.config.Budget.Tokens, r.config.Verify = 1, 50, "true"
	calls := r.paid(2, `touch f; use 100; well`)
	r.deps.Journal = r
	// The first is known to have ended well, and to have spent it all.
	r.append(&event.Opened{})
	for i, c := range calls {
		c := *c
		c.Key = c.Sum()
		r.append(&event.Called{Agent: task.AgentID(i + 1), Call: &c})
	}
	dir := r.deps.Run.Attempt("a2", 1)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	said := `{"type":"usage","output":100}` + "\n" + `{"type":"result","text":"ok"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "stdout"), []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	patch := &task.Patch{Ref: "r", Commit: "commit-of-a2.1", Base: "base", File: "p", Files: 1}
	r.append(
		&event.Leased{Agent: "a2", Attempt: 1, Dir: filepath.Join(r.spaces.root, "a2.1"), Base: "base"},
		&event.Started{Agent: "a2", Attempt: 1, Step: "agent", Pid: 1 << 30, Start: 1},
		&event.Ended{Agent: "a2", Attempt: 1, Stdout: int64(len(said))},
		&event.Captured{Agent: "a2", Attempt: 1, Patch: patch, Complete: true},
		&event.Released{Agent: "a2", Attempt: 1},
		&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Failed{
			Kind: task.Lost, Work: task.Work{Usage: task.Usage{Output: 100}, Patch: patch},
		}},
		&event.Closed{Status: "stopped"}, &event.Opened{Resumed: true},
	)
	r.spaces.works = nil
	v := r.rest(calls...)
	is(t, "agents", words(v), "queued completed")
	is(t, "attempts", v.Agent("a2").Attempt, 1)
}

// TestRecoverPaused closes a paused run of a dead owner as paused, and counts
// the usage that its agents had reported.
func TestRecoverPaused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := r.paid(2, `well`)
	r.append(&event.Opened{}, &event.Called{Agent: "a1", Call: calls[0]}, &event.Called{Agent: "a2", Call: calls[1]})
	dir := r.deps.Run.Attempt("a1", 1)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stdout"), []byte(`{"type":"usage","output":70}`+"\n"+`{"type":"usa`), 0o600); err != nil {
		t.Fatal(err)
	}
	r.append(
		&event.Leased{Agent: "a1", Attempt: 1, Dir: filepath.Join(r.spaces.root, "a1.1"), Base: "base"},
		&event.Started{Agent: "a1", Attempt: 1, Step: "agent", Pid: 1 << 30, Start: 1},
		&event.Paused{Cause: task.CauseBudget, Reason: "why"},
	)
	v := r.view()
	v.Status, v.Died = store.RunStopped, true
	// The recovery comes an hour later, in which the run did not work.
	r.deps.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if err := Recover(t.Context(), r.deps, r.config, v); err != nil {
		t.Fatal(err)
	}
	v = r.view()
	is(t, "status", v.Status, store.RunPaused)
	is(t, "reason", v.Reason, "why")
	is(t, "code", v.Code, 6)
	is(t, "agents", words(v), "failed queued")
	is(t, "spent", v.Usage().Output, 70)
	if end := v.Agent("a1").Result().Done().Ended; end.After(time.Now()) {
		t.Errorf("a1 was at work until %s", end)
	}
}

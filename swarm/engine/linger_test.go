package engine

import (
	"sync"
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestLingers checks that an agent that hangs after its answer gives its place
// back, completes, and has a note about it. A later reading of its records has
// the same result.
func TestLingers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	kind := r.deps.Kinds[agent.KindCommand]
	kind.Linger = time.Millisecond
	r.deps.Kinds[agent.KindCommand] = kind
	r.config.Agents = specs("mine", `read -r p; printf '{"type":"result","text":"ok"}\n'; while :; do sleep 1000; done`)
	r.config.Jobs = 1
	all := r.play(mine(), sh("true"))
	done, ok := all["a1"].Result.(*task.Completed)
	if !ok || done.Answer != "ok" {
		t.Fatalf("it ended as %+v", all["a1"].Result)
	}
	is(t, "notes", done.Notes[0], "it had answered and did not exit, so swarm ended it; its answer counts")
	is(t, "the next", task.Word(all["a2"].Result), "completed")
	v := r.view()
	var ended *event.Ended
	records, err := r.deps.Run.Records()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if e, is := rec.Event.(*event.Ended); is && e.Agent == "a1" {
			ended = e
		}
	}
	if ended == nil || !ended.Lingered {
		t.Fatalf("its end is recorded as %+v", ended)
	}
	a := v.Agent("a1")
	a.Status = nil
	is(t, "read again", word(judgeAgain(r.deps, r.config, a, false)), "completed ok")
}

// TestOverloadedAfterAnswer checks that an answer counts once, even if its
// provider refused a later request.
func TestOverloadedAfterAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(`printf '{"type":"usage","output":7}\n{"type":"result","text":"ok"}\n{"type":"error","kind":"overloaded","message":"slow"}\n'; exit 1`)
	r.config.Retries = 3
	result := r.play(mine())["a1"].Result
	is(t, "result", endOf(result), "completed")
	is(t, "attempts", result.Done().Attempts, 1)
	is(t, "notes", result.Done().Notes,
		"[its provider refused the requests after its answer, which counts; it may not have received the last message]")
	is(t, "usage", result.Done().Usage.Output, int64(7))
}

// telling reports that the output of an agent was seen.
type telling struct {
	agent.Adapter
	once sync.Once
	seen chan struct{}
}

// tells makes the agents of the rig such.
func (r *rig) tells() (seen chan struct{}) {
	kind := r.deps.Kinds[agent.KindCommand]
	tells := &telling{Adapter: kind.Adapter, seen: make(chan struct{})}
	kind.Adapter = tells
	r.deps.Kinds[agent.KindCommand] = kind
	return tells.seen
}

func (a *telling) Launch(r agent.Request) (agent.Launch, error) {
	launch, err := a.Adapter.Launch(r)
	launch.Respond = func(e event.Event) ([]byte, bool) {
		if _, said := e.(*event.Session); said {
			a.once.Do(func() { close(a.seen) })
		}
		return nil, false
	}
	return launch, err
}

// TestStoppedAfterAnswer stops a run, or exhausts its budget, after an answer
// of an agent that has not ended. It checks which answers stand, and that a
// later reading of the records has the same result.
func TestStoppedAfterAnswer(t *testing.T) {
	t.Parallel()
	const (
		answers = `printf '{"type":"result","text":"ok"}\n'`
		begins  = `printf '{"type":"tool_start","id":"t","name":"x"}\n'`
		refused = `printf '{"type":"turn","n":2}\n{"type":"error","kind":"overloaded","message":"slow"}\n'`
		stays   = `printf '{"type":"session","can":[]}\n'; while :; do sleep 1000; done`
	)
	stop := func(e *Engine) error { return e.Stop(&Halt{Cause: task.CauseStopped, Reason: "signal"}) }
	matched := func(_ *agent.Spec, call *task.Call) { call.Schema = []byte(oneNumber) }
	byStatus := func(spec *agent.Spec, _ *task.Call) { spec.Success = agent.SuccessExit }
	for _, test := range []struct {
		name, script string
		set          func(*agent.Spec, *task.Call)
		end          func(*Engine) error
		budget       int64
		want         string
	}{
		{"stopped", answers, nil, stop, 0, "completed ok"},
		{"the budget is spent", answers + `; printf '{"type":"usage","output":90000}\n'`, nil, nil, 50, "completed ok"},
		{"its provider refused what followed", answers + ";" + refused, nil, stop, 0, "completed ok"},
		{"by name", answers, nil, func(e *Engine) error {
			return e.Cancel([]task.ID{"a1"}, &Halt{Cause: task.CauseCancelled})
		}, 0, "cancelled cancelled"},
		{"by its script", answers, nil, func(e *Engine) error {
			return e.CancelByScript([]task.ID{"a1"}, "another won")
		}, 0, "cancelled cancelled"},
		{"it had begun something else", answers + ";" + begins, nil, stop, 0, "cancelled stopped"},
		{"no answer", `:`, nil, stop, 0, "cancelled stopped"},
		{"an answer that does not match", answers, matched, stop, 0, "cancelled stopped"},
		{"its exit status counts", answers + ";" + refused + "; trap 'exit 0' TERM", byStatus, stop, 0, "cancelled stopped"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.config.Agents = specs("mine", `read -r p; touch f; `+test.script+"; "+stays)
			r.config.Agents["mine"].Input = agent.InputStdin
			r.config.Budget.Tokens = test.budget
			call := mine()
			if test.set != nil {
				test.set(r.config.Agents["mine"], call)
			}
			seen := r.tells()
			e := r.start(call)
			if test.end != nil { // else its usage ends it
				<-seen
				if err := test.end(e); err != nil {
					t.Fatal(err)
				}
			}
			result := settled(e).Result
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			is(t, "result", word(result), test.want)
			is(t, "its work", result.Done().Patch != nil, true)
			a := r.view().Agent("a1")
			a.Status = nil
			is(t, "read again", word(lostResult(r.deps, r.config, r.view(), a, a.Captured)), test.want)
		})
	}
}

// TestStoppedBeforeTheCheck checks that a resume runs only the check of such an
// agent.
func TestStoppedBeforeTheCheck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Verify = "true"
	r.config.Agents = specs("mine", `read -r p; touch f; echo x >> "$RIG/starts"; printf '{"type":"result","text":"ok"}\n'
		printf '{"type":"session","can":[]}\n'; test $SWARM_ATTEMPT = 2 || while :; do sleep 1000; done`)
	seen := r.tells()
	e := r.start(mine())
	<-seen
	if err := e.Stop(&Halt{Cause: task.CauseStopped}); err != nil {
		t.Fatal(err)
	}
	is(t, "stopped", word(settled(e).Result), "cancelled stopped")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	is(t, "resumed", word(r.play(mine())["a1"].Result), "completed ok, verified true")
	is(t, "its processes", len(r.lines("starts")), 1)
}

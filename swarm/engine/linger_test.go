package engine

import (
	"testing"
	"time"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestLingers holds that an agent which hangs after its answer gives its place
// back, has completed and says what became of it, and that whoever reads its
// records again finds the same.
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
	is(t, "notes", done.Notes[0], "it had answered and did not end, so that it was ended; its answer stands")
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

// TestOverloadedAfterAnswer holds that an answer is paid for once, though its
// provider refused something after it.
func TestOverloadedAfterAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.lane(`printf '{"type":"usage","output":7}\n{"type":"result","text":"ok"}\n{"type":"error","kind":"overloaded","message":"slow"}\n'; exit 1`)
	r.config.Retries = 3
	result := r.play(mine())["a1"].Result
	is(t, "result", endOf(result), "completed")
	is(t, "attempts", result.Done().Attempts, 1)
	is(t, "usage", result.Done().Usage.Output, int64(7))
}

package cli

import (
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestRetryShown holds that an agent which waits for another try is told of with
// the reason and the time, until that begins.
func TestRetryShown(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := store.Fold(store.Identity{}, nil)
	n := int64(0)
	apply := func(e event.Event) {
		n++
		v.Apply(event.Record{N: n, Time: at, Event: e})
	}
	apply(&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}})
	apply(&event.Leased{Agent: "a1", Attempt: 1})
	apply(&event.Retried{Agent: "a1", Attempt: 1, Error: task.Overloaded, Reason: "529 busy", Wait: 30_000})
	if got, want := againNote(v, at.Add(10*time.Second)), "1 agent is tried again, the next in 20.0s: overloaded: 529 busy"; got != want {
		t.Errorf("progress says %q, want %q", got, want)
	}
	o := newAgentObject(engine.Config{}, v, v.Agents[0], at)
	if o.Retry == nil || o.Retry.Kind != "overloaded" || !o.Retry.At.Equal(at.Add(30*time.Second)) || resultText(o) != "queued, retry" {
		t.Errorf("its object has %+v, and its result is %q", o.Retry, resultText(o))
	}
	var b strings.Builder
	printCauses(&b, v, 10)
	want := "a1: tries again at " + at.Add(30*time.Second).Local().Format(time.TimeOnly) + " after overloaded: 529 busy\n"
	if b.String() != want {
		t.Errorf("status says %q, want %q", b.String(), want)
	}
	apply(&event.Leased{Agent: "a1", Attempt: 2})
	if got := againNote(v, at); got != "" || v.Agents[0].Again != nil {
		t.Errorf("after its begin progress says %q", got)
	}
}

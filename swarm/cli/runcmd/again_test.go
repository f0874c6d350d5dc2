package runcmd

import (
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/activity"
	"agentswarm/swarm/cli/follow"
	"agentswarm/swarm/cli/view"
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
	if got, want := view.AgainNote(v, nil, at.Add(10*time.Second)), "1 agent is tried again, the next in 20.0s: overloaded: 529 busy"; got != want {
		t.Errorf("progress says %q, want %q", got, want)
	}
	o := view.NewAgentObject(engine.Config{}, v, v.Agents[0], at)
	if o.Retry == nil || o.Retry.Kind != "overloaded" || !o.Retry.At.Equal(at.Add(30*time.Second)) || view.ResultText(o) != "queued, retry" {
		t.Errorf("its object has %+v, and its result is %q", o.Retry, view.ResultText(o))
	}
	var b strings.Builder
	view.PrintCauses(&b, v, 10)
	want := "a1: tries again at " + at.Add(30*time.Second).Local().Format(time.TimeOnly) + " after overloaded: 529 busy\n"
	if b.String() != want {
		t.Errorf("status says %q, want %q", b.String(), want)
	}
	apply(&event.Leased{Agent: "a1", Attempt: 2})
	if got := view.AgainNote(v, nil, at); got != "" || v.Agents[0].Again != nil {
		t.Errorf("after its begin progress says %q", got)
	}
}

// TestOwnRetryShown checks that the progress and status report an agent's own
// retry like a retry of swarm, and no longer once it is over.
func TestOwnRetryShown(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := store.Fold(store.Identity{}, nil)
	v.Apply(event.Record{N: 1, Time: at, Event: &event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}}})
	v.Apply(event.Record{N: 2, Time: at, Event: &event.Leased{Agent: "a1", Attempt: 1}})
	again := &store.Again{Kind: task.RateLimit, Reason: "slow down", At: at.Add(5 * time.Second)}
	doing := map[task.ID]activity.Now{"a1": {Again: again}}
	if got, want := view.AgainNote(v, doing, at), "1 agent is tried again, the next in 5.0s: rate_limit: slow down"; got != want {
		t.Errorf("progress says %q, want %q", got, want)
	}
	w := &follow.Watcher{Began: at, View: v, Doing: doing}
	text := "tries again at " + again.At.Local().Format(time.TimeOnly) + " after rate_limit: slow down"
	if _, rows := w.Rows(at); len(rows) != 1 || rows[0].Doing != text {
		t.Errorf("its row is %+v, want %q", rows, text)
	}
	view.AddRetries(v, func(*store.Agent) *store.Again { return again })
	o := view.NewAgentObject(engine.Config{}, v, v.Agents[0], at)
	if o.Retry == nil || !o.Retry.At.Equal(again.At) || o.Retry.Message != "slow down" || view.ResultText(o) != "running, retry" {
		t.Errorf("its object has %+v, and its result is %q", o.Retry, view.ResultText(o))
	}
	var b strings.Builder
	view.PrintCauses(&b, v, 10)
	if want := "a1: " + text + "\n"; b.String() != want {
		t.Errorf("status says %q, want %q", b.String(), want)
	}
	view.AddRetries(v, func(*store.Agent) *store.Again { return nil })
	if o := view.NewAgentObject(engine.Config{}, v, v.Agents[0], at); o.Retry != nil {
		t.Errorf("its object has %+v after it went on", o.Retry)
	}
	if got := view.AgainText(&store.Again{Kind: task.Overloaded, Reason: "busy"}); got != "tries again after overloaded: busy" {
		t.Errorf("without a time it is %q", got)
	}
}

// TestNextRetry checks that a retry without a time is counted, but is never the
// next retry.
func TestNextRetry(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := store.Fold(store.Identity{}, nil)
	for i, id := range []task.ID{"a1", "a2", "a3"} {
		v.Apply(event.Record{N: int64(i + 1), Time: at, Event: &event.Called{Agent: id, Call: &task.Call{}}})
	}
	unknown := activity.Now{Again: &store.Again{Kind: task.Overloaded, Reason: "busy"}}
	known := activity.Now{Again: &store.Again{Kind: task.RateLimit, Reason: "slow down", At: at.Add(5 * time.Second)}}
	for _, tt := range []struct {
		doing map[task.ID]activity.Now
		want  string
	}{
		{map[task.ID]activity.Now{"a1": unknown}, "1 agent is tried again: overloaded: busy"},
		{map[task.ID]activity.Now{"a1": unknown, "a2": known, "a3": unknown}, "3 agents are tried again, the next in 5.0s: rate_limit: slow down"},
	} {
		if got := view.AgainNote(v, tt.doing, at); got != tt.want {
			t.Errorf("progress says %q, want %q", got, tt.want)
		}
	}
}

package engine

import (
	"fmt"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestRecall checks that Recall tells the results that a resume would use: each
// record answers a single call, and records that stand come first.
func TestRecall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	scripted := func(text string) *task.Call {
		call := sh(text)
		call.Script = true
		return call
	}
	work, other := scripted("true"), scripted("false")
	for i, call := range []*task.Call{work, work, other} {
		c := *call
		c.Key = c.Sum()
		r.append(&event.Called{Agent: task.AgentID(i + 1), Call: &c})
	}
	r.append(
		&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Failed{Kind: task.Other}},
		&event.Settled{Agent: "a2", Attempt: 1, Result: &task.Completed{Answer: "done"}},
		&event.Settled{Agent: "a3", Attempt: 1, Result: &task.Failed{Kind: task.Other}},
	)
	recall := NewRecall(r.deps, r.config, r.view())
	uncached := *other
	uncached.Uncached = true
	for _, want := range []struct {
		call *task.Call
		is   string
	}{
		{work, "a2 stands"}, {work, "a1 runs"}, {work, "new"},
		{&uncached, "new"}, {other, "a3 runs"}, {other, "new"}, {scripted("else"), "new"},
	} {
		got := "new"
		if taken := recall.Take(want.call); taken != nil {
			got = fmt.Sprintf("%s %s", taken.ID, map[bool]string{true: "stands", false: "runs"}[taken.Stands])
		}
		is(t, "taken", got, want.is)
	}
}

// TestRecallCheck knows an agent that lacks nothing but its check.
func TestRecallCheck(t *testing.T) {
	t.Parallel()
	r, call := owing(t, "true")
	taken := NewRecall(r.deps, r.config, r.view()).Take(call)
	if taken == nil || taken.Stands || !taken.OnlyCheck {
		t.Errorf("Take = %+v, want one that needs its check alone", taken)
	}
}

package store

import (
	"slices"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestEarlierAttempts checks that the patch of an earlier attempt is found. An
// attempt that continues another starts with its work and usage.
func TestEarlierAttempts(t *testing.T) {
	t.Parallel()
	patch := func(ref string) *task.Patch { return &task.Patch{Ref: ref, Commit: ref} }
	var records []event.Record
	for i, e := range []event.Event{
		&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}},
		&event.Leased{Agent: "a1", Attempt: 1, At: "/repo"},
		&event.Captured{Agent: "a1", Attempt: 1, Patch: patch("one"), Complete: true},
		&event.Continued{Agent: "a1", Attempt: 2, Of: 1, Session: "s", Used: task.Usage{Output: 3}, From: patch("one")},
		&event.Leased{Agent: "a1", Attempt: 2, At: "/repo"},
		&event.Started{Agent: "a1", Attempt: 2, Step: "agent"},
	} {
		records = append(records, event.Record{N: int64(i + 1), Time: time.Unix(int64(i), 0), Event: e})
	}
	v := Fold(Identity{}, records)
	a := v.Agent("a1")
	if a.Attempt != 2 || a.From() == nil || a.From().Ref != "one" || a.Prior.Output != 3 || a.Mounted != "/repo" {
		t.Errorf("the second attempt is %+v", a)
	}
	then := a.At(1)
	if then == nil || then.Result() == nil || then.Result().Done().Patch.Ref != "one" || then.Attempt != 1 {
		t.Fatalf("the first attempt is %+v", then)
	}
	if a.At(2) != nil || a.At(3) != nil {
		t.Error("an attempt without a patch is found")
	}
	if f, ok := then.Status.(*task.Failed); !ok || f.Reason != "attempt 2 followed" {
		t.Errorf("an attempt without a result is %+v", then.Status)
	}
	settled := &event.Settled{Agent: "a1", Attempt: 1, Result: &task.Completed{Work: task.Work{Patch: patch("one")}}}
	judged := Fold(Identity{}, slices.Insert(slices.Clone(records), 3, event.Record{N: 4, Event: settled})).Agent("a1").At(1)
	if c, ok := judged.Status.(*task.Completed); !ok || c.Patch.Ref != "one" {
		t.Errorf("an attempt that completed is %+v", judged.Status)
	}
	v.Rewind("a1", 1)
	if got := v.Agent("a1"); got.Attempt != 1 || v.Agents[0] != got {
		t.Errorf("rewound to attempt %d", got.Attempt)
	}
	later := Fold(Identity{}, append(records, event.Record{N: 7, Event: &event.Leased{Agent: "a1", Attempt: 3}},
		event.Record{N: 8, Event: &event.Started{Agent: "a1", Attempt: 3, Step: "agent"}})).Agent("a1")
	if later.From() != nil || later.Prior != (task.Usage{}) {
		t.Errorf("a later attempt that continues nothing has %+v, %+v", later.From(), later.Prior)
	}
}

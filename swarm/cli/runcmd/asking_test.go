package runcmd

import (
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func TestDenials(t *testing.T) {
	t.Parallel()
	failed, done := &task.Failed{Kind: task.Other}, &task.Completed{}
	for _, tt := range []struct {
		name  string
		reply event.Replied
		after []event.Event
		want  exit.Code
	}{
		{"failed", event.Replied{By: task.ByPolicy}, []event.Event{&event.Settled{Agent: "a1", Attempt: 1, Result: failed}}, exit.Approval},
		{"completed", event.Replied{By: task.ByPolicy}, []event.Event{&event.Settled{Agent: "a1", Attempt: 1, Result: done}}, exit.OK},
		{"by a person", event.Replied{By: task.ByPerson}, []event.Event{&event.Settled{Agent: "a1", Attempt: 1, Result: failed}}, exit.Degraded},
		{"allowed by rule", event.Replied{By: task.ByRule, Allow: true}, []event.Event{&event.Settled{Agent: "a1", Attempt: 1, Result: failed}}, exit.Degraded},
		{"by name", event.Replied{By: task.ByPolicy}, []event.Event{
			&event.CancelAsked{Agents: []task.ID{"a1"}, Cause: task.CauseCancelled},
			&event.Settled{Agent: "a1", Attempt: 1, Result: &task.Cancelled{Cause: task.CauseCancelled}},
		}, exit.Degraded}, // the run has no other agent
		{"an earlier attempt", event.Replied{By: task.ByPolicy}, []event.Event{
			&event.Started{Agent: "a1", Attempt: 2}, &event.Settled{Agent: "a1", Attempt: 2, Result: failed},
		}, exit.Degraded},
	} {
		reply := tt.reply
		reply.ID = "k3x9q2-1"
		all := append([]event.Event{
			&event.Called{Agent: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "p"}}},
			&event.Started{Agent: "a1", Attempt: 1},
			&event.Questioned{ID: "k3x9q2-1", Agent: "a1", Attempt: 1}, &reply,
		}, tt.after...)
		var records []event.Record
		for i, e := range all {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		_, codes := outcomeOf(store.Fold(store.Identity{}, records))
		if got := exit.First(codes...); got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestOwnEnviron(t *testing.T) {
	t.Parallel()
	got := strings.Join(ownEnviron([]string{
		"PATH=/bin", "SWARM_AGENT=a1", "SWARM_RUN=x", "SWARM_STATE_DIR=/s", "GIT_DIR=/g", "SWARM_DETACHED_FD=3", "MY_TOKEN=t",
	}), " ")
	if want := "PATH=/bin SWARM_STATE_DIR=/s MY_TOKEN=t"; got != want {
		t.Errorf("ownEnviron = %q, want %q", got, want)
	}
}

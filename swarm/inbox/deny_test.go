package inbox

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestDenyByScript checks that an action denied by a script neither waits nor
// is allowed by an answer for the run, and is counted like any other question.
func TestDenyByScript(t *testing.T) {
	t.Parallel()
	b := New("abcdef", Wait, []event.Event{
		&event.Questioned{ID: "abcdef-1", Agent: "a1", Action: asked(`"push"`).Action},
		&event.Replied{ID: "abcdef-1", Allow: true, For: task.ForTheRun, By: task.ByPerson},
	})
	q, r := b.Deny("a1", 2, asked(`"push"`), "not today")
	if q.ID != "abcdef-2" || q.Agent != "a1" || q.Attempt != 2 || q.Ask != "own" || string(q.Action) != `"push"` {
		t.Errorf("question = %+v", q)
	}
	if r.ID != q.ID || r.Allow || r.By != task.ByScript || r.Reason != "not today" || b.Open() != 0 {
		t.Errorf("reply = %+v, %d open", r, b.Open())
	}
	if _, r := b.Ask("a1", 2, asked(`"push"`)); r == nil || !r.Allow || r.ID != "abcdef-3" {
		t.Errorf("the answer for the run is gone: %+v", r)
	}
}

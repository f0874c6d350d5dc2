package cli

import (
	"errors"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestChooseUncaptured: work that could not be captured is no work without changes.
// A merge that has only such work is refused with the reason and the next step.
func TestChooseUncaptured(t *testing.T) {
	t.Parallel()
	const reason = "no space left; a resume tries again; its workspace is kept at /trees/a1.1"
	worker := func(id task.ID, status task.Status, leases ...*event.Leased) *store.Agent {
		return &store.Agent{ID: id, Call: &task.Call{Label: "work", Input: &task.TypedAgentInput{Prompt: "x"}}, Attempt: 1, Status: status, Leases: leases}
	}
	lost := &task.Failed{Kind: task.CaptureFailed, Reason: reason}
	kept := worker("a1", lost, &event.Leased{Agent: "a1", Attempt: 1})
	landed := worker("a2", &task.Completed{Work: task.Work{Patch: &task.Patch{Commit: "c"}}})
	landed.Found = []string{"refs/heads/main"}
	failed := worker("a3", &task.Failed{Work: task.Work{Patch: &task.Patch{Commit: "c"}}})
	for _, tt := range []struct {
		name   string
		view   store.View
		named  []task.ID
		done   bool
		advice string // a part of it
	}{
		{"by name", store.View{Agents: []*store.Agent{kept}}, []task.ID{"a1"}, false, "swarm gc"},
		{"without a name", store.View{Agents: []*store.Agent{kept}}, nil, false, "swarm gc"},
		{"its workspace is gone", store.View{Agents: []*store.Agent{worker("a1", lost)}}, nil, false, "swarm retry"},
		{"in the shared workspace", store.View{Agents: []*store.Agent{worker("a1", lost)}, Shared: &event.Leased{}}, nil, false, "swarm gc"},
		{"the others landed", store.View{Agents: []*store.Agent{kept, landed}}, nil, true, ""},
		{"the others failed", store.View{Agents: []*store.Agent{kept, failed}}, nil, false, "swarm accept"},
	} {
		_, _, err := choose(&tt.view, tt.named, "refs/heads/main", false)
		nothing, ok := errors.AsType[*NothingError](err)
		if !ok || nothing.Done != tt.done || !strings.Contains(nothing.Advice, tt.advice) ||
			!strings.Contains(nothing.Reason, "could not be captured: "+reason) {
			t.Errorf("%s: %v, done %v, advice %q; want the reason, done %v, advice %q", tt.name, err, ok && nothing.Done, hintOf(err), tt.done, tt.advice)
		}
	}
}

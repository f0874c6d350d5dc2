package gc

import (
	"path/filepath"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestLoss: a run keeps its workspace that could not be captured, and its patch that
// landed nowhere.
func TestLoss(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patch := &task.Patch{Commit: "c"}
	for _, tt := range []struct {
		agent *store.Agent
		want  string
	}{
		{&store.Agent{ID: "a1", Leases: []*event.Leased{{Dir: dir}}}, "keeps the workspace " + dir + ", which could not be captured"},
		{&store.Agent{ID: "a1", Call: &task.Call{Input: &task.TypedAgentInput{Prompt: "fix it"}}, Status: &task.Completed{Work: task.Work{Patch: patch}}}, "has 1 patch that landed nowhere: a1 (fix it)"},
	} {
		r := &Remover{}
		loss, err := r.Loss(t.Context(), nil, &store.View{Agents: []*store.Agent{tt.agent}})
		if err != nil || loss == nil || loss.Reason != tt.want {
			t.Errorf("Loss = %+v, %v, want %q", loss, err, tt.want)
		}
	}
	gone := &store.Agent{Leases: []*event.Leased{{Dir: filepath.Join(dir, "gone")}}}
	if v := (&store.View{Agents: []*store.Agent{gone}}); !HasWorkspaces(v) || HasWorkspaces(&store.View{}) {
		t.Error("HasWorkspaces does not go by leases")
	}
}

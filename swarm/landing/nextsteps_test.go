package landing

import (
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// endedAgent is an agent of a run that has ended.
func endedAgent(id task.ID, group string, status task.Status, landings ...int) *store.Agent {
	return &store.Agent{ID: id, Call: &task.Call{Group: group}, Status: status, Attempt: 1, Landings: landings}
}

func TestNextSteps(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	patch := &task.Patch{Files: 1}
	good := &task.Completed{Work: task.Work{Patch: patch}}
	checked := &task.Completed{Work: task.Work{Patch: patch}, Verified: &yes}
	broken := &task.Completed{Work: task.Work{Patch: patch}, Verified: &no}
	idle := &task.Completed{}
	failed := &task.Failed{Kind: task.Other}
	scoped := &task.Completed{Work: task.Work{Patch: &task.Patch{Files: 1, OutOfScope: []string{"x"}}}}
	never := &task.Cancelled{Cause: task.CauseDependency}
	inConflict := endedAgent("a2", "", good)
	inConflict.Conflict = &store.Conflict{Ref: "refs/heads/main"}
	for _, tt := range []struct {
		name string
		view store.View
		want string
	}{
		{"running", store.View{Status: store.RunRunning}, "wait R"},
		{"stopped", store.View{Status: store.RunStopped}, "resume R"},
		{"nothing changed", store.View{Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", idle)}}, ""},
		{"a patch", store.View{Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good)}}, "diff R|merge R"},
		{"all landed", store.View{Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good, 1)}}, ""},
		{"some failed", store.View{
			Status: store.RunDegraded, Agents: []*store.Agent{endedAgent("a1", "", failed), endedAgent("a2", "", good)},
		}, "show R --failed|retry R --failed|merge R"},
		{"a check failed", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", broken)},
		}, "show R --failed|retry R --failed"},
		{"something never ran", store.View{
			Status: store.RunDegraded, Agents: []*store.Agent{endedAgent("a1", "", failed), endedAgent("a2", "", never)},
		}, "show R --failed|resume R"},
		{"failed in a script", store.View{
			Status: store.RunCompleted, Script: &event.Scripted{}, Agents: []*store.Agent{endedAgent("a1", "", failed)},
		}, "show R --failed"},
		{"alternatives", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "g", checked), endedAgent("a2", "g", good)},
		}, "diff R --unlanded|merge R/a1 # or a2"},
		{"a failed alternative", store.View{
			Status: store.RunDegraded, Agents: []*store.Agent{endedAgent("a1", "g", failed), endedAgent("a2", "g", checked)},
		}, "diff R --unlanded|merge R/a2"},
		{"only failed alternatives", store.View{
			Status: store.RunFailed, Agents: []*store.Agent{endedAgent("a1", "g", failed), endedAgent("a2", "g", broken)},
		}, "show R --failed|retry R --failed"},
		{"a failed alternative of a chosen one", store.View{
			Status: store.RunDegraded, Agents: []*store.Agent{endedAgent("a1", "g", failed), endedAgent("a2", "g", good, 1)},
		}, ""},
		{"an alternative was chosen", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "g", good, 1), endedAgent("a2", "g", good)},
		}, ""},
		{"only a conflict is left", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good, 1), inConflict},
		}, "conflict of a2"},
		{"a conflict and a new patch", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good), inConflict},
		}, "diff R|merge R"},
		{"by its name only", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", scoped)},
		}, "diff R/a1|merge R/a1|accept R/a1"},
		{"several by their names", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", scoped), endedAgent("a2", "", scoped)},
		}, "diff R --unlanded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := tt.view
			v.Identity.Run = "R"
			var got []string
			for _, step := range NextSteps(NextRequest{View: &v}) {
				text := strings.Join(step.Words, " ")
				if step.Note != "" {
					text += " # " + step.Note
				}
				if step.Conflict != nil {
					text = "conflict of " + string(step.Conflict.ID)
				}
				got = append(got, text)
			}
			var want []string
			if tt.want != "" {
				want = strings.Split(tt.want, "|")
			}
			if !slices.Equal(got, want) {
				t.Errorf("next is %q, want %q", got, want)
			}
		})
	}
}

package landing

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestNextStepsOfFold: commands that depend on records: open questions are answered, the
// loser of a race is never landed, and a patch that builds on a refused patch is not
// retried.
func TestNextStepsOfFold(t *testing.T) {
	t.Parallel()
	called := func(id task.ID) event.Event {
		return &event.Called{Agent: id, Call: &task.Call{}}
	}
	settled := func(id task.ID) event.Event {
		return &event.Settled{Agent: id, Attempt: 1, Result: &task.Completed{Work: task.Work{Patch: &task.Patch{Files: 1}}}}
	}
	leased := func(id task.ID) event.Event { return &event.Leased{Agent: id, Attempt: 1, Dir: "d"} }
	asked := func(id string, agent task.ID, action string) event.Event {
		return &event.Questioned{ID: id, Agent: agent, Attempt: 1, Action: json.RawMessage(action)}
	}
	closed := &event.Closed{Status: string(store.RunCompleted)}
	for _, tt := range []struct {
		name   string
		events []event.Event
		want   string
	}{
		{"no question", []event.Event{called("a1"), leased("a1")}, "wait R"},
		{"a request for permission", []event.Event{
			called("a1"), leased("a1"), asked("R-1", "a1", `{"tool":"push"}`),
		}, "inbox|approve R-1|deny R-1"},
		{"a question of the script", []event.Event{asked("R-1", "", `{"question":"which?"}`)}, "inbox|answer R-1"},
		{"several questions", []event.Event{
			called("a1"), leased("a1"), asked("R-1", "a1", `{"tool":"push"}`), asked("R-2", "a1", `{"tool":"rm"}`),
		}, "inbox"},
		{"the loser of a race changed files", []event.Event{
			called("a1"), called("a2"), leased("a1"), leased("a2"), settled("a1"), settled("a2"),
			&event.Chosen{Won: []task.ID{"a1"}, Lost: []task.ID{"a2"}},
			&event.Intended{ID: 1, Verb: "merge", Ref: "refs/heads/main", Old: "o", New: "n", Agents: []task.ID{"a1"}},
			&event.Landed{ID: 1, OK: true}, closed,
		}, ""},
		{"a loser of what the script landed", []event.Event{
			called("a1"), called("a2"), leased("a1"), leased("a2"), settled("a1"), settled("a2"),
			&event.Intended{ID: 1, Verb: "merge", Key: "k", Ref: "refs/heads/main", Old: "o", New: "n", Agents: []task.ID{"a1"}},
			&event.Landed{ID: 1, OK: true}, closed,
		}, ""},
		{"a patch builds on a refused patch", []event.Event{
			called("a1"), called("a2"), leased("a1"), leased("a2"), settled("a1"), settled("a2"), closed,
			&event.Refused{Ref: "refs/heads/main", Tip: "t", Refused: []event.Refusal{
				{Agent: "a1", Kind: "failed"}, {Agent: "a2", Kind: "dependency", Needs: []task.ID{"a1"}},
			}},
		}, "show R/a1|retry R/a1"},
	} {
		var records []event.Record
		for i, e := range tt.events {
			records = append(records, event.Record{N: int64(i + 1), Event: e})
		}
		var got []string
		for _, step := range NextSteps(NextRequest{View: store.Fold(store.Identity{Run: "R"}, records)}) {
			got = append(got, strings.Join(step.Words, " "))
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("%s: next is %q, want %q", tt.name, text, tt.want)
		}
	}
}

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
	refused := func(id task.ID, needs ...task.ID) *store.Agent {
		a := endedAgent(id, "", good)
		a.Refusal = &store.Refusal{Refusal: event.Refusal{Agent: id, Kind: "failed", Needs: needs}, Ref: "refs/heads/main"}
		return a
	}
	for _, tt := range []struct {
		name string
		view store.View
		want string
	}{
		{"refused by the check of a merge", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good, 1), refused("a3")},
		}, "show R/a3|retry R/a3"},
		{"several refused", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{refused("a1"), refused("a2"), endedAgent("a3", "", scoped)},
		}, "show R/a1 R/a2|retry R/a1 R/a2"},
		{"refused, and a patch that was not tried", store.View{
			Status: store.RunCompleted, Agents: []*store.Agent{endedAgent("a1", "", good), refused("a3")},
		}, "diff R|merge R"},
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

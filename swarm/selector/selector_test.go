package selector

import (
	"slices"
	"testing"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

func agents() []*store.Agent {
	yes, no := true, false
	patch := &task.Patch{Files: 1}
	return []*store.Agent{
		{ID: "a1", Status: &task.Completed{Work: task.Work{Patch: patch}, Verified: &yes}},
		{ID: "a2", Status: &task.Completed{Work: task.Work{Patch: patch}, Verified: &no}},
		{ID: "a3", Status: &task.Failed{Work: task.Work{Patch: patch}}, Landings: []int{1}},
		{ID: "a4", Status: &task.Failed{}},
		{ID: "a5", Status: &task.Cancelled{Work: task.Work{Patch: patch}}},
		{ID: "a6", Status: &task.Running{}},
		{ID: "a7", Status: &task.Completed{}},
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give Selector
		word string
		want []task.ID
	}{
		{Selector{}, "", []task.ID{"a1", "a2", "a3", "a4", "a5", "a6", "a7"}},
		{Selector{Failed: true}, "--failed", []task.ID{"a2", "a3", "a4"}},
		{Selector{Verified: true}, "--verified", []task.ID{"a1"}},
		{Selector{Unlanded: true}, "--unlanded", []task.ID{"a1", "a2", "a5"}},
		{Selector{Failed: true, Unlanded: true}, "--failed --unlanded", []task.ID{"a2"}},
		{Selector{Running: true}, "--running", []task.ID{"a6"}},
		{Selector{Failed: true, Running: true}, "--failed --running", nil},
		{Selector{Failed: true, Verified: true}, "--failed --verified", nil},
	} {
		all := agents()
		var got []task.ID
		for _, a := range tt.give.Pick(all) {
			got = append(got, a.ID)
		}
		if !slices.Equal(got, tt.want) || tt.give.String() != tt.word || tt.give.Empty() != (tt.word == "") {
			t.Errorf("%q picks %q, want %q of %q", tt.give, got, tt.want, tt.word)
		}
		if len(all) != 7 || all[6] == nil {
			t.Errorf("%q changed the list", tt.give)
		}
	}
}

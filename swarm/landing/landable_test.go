package landing

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestLandable: where patches are reviewed, a patch without a verdict does not
// land. The verdict of a person counts more.
func TestLandable(t *testing.T) {
	t.Parallel()
	patch, no := &task.Patch{Commit: "c"}, false
	done := &task.Completed{Work: task.Work{Patch: patch}}
	passed, wrong := &event.Appraised{Pass: true}, &event.Appraised{}
	said := func(v task.Verdict) *event.Reviewed { return &event.Reviewed{Verdict: v} }
	stage := func(name string, reads bool) *task.Call {
		return &task.Call{Stage: &task.Stage{Name: name, Reads: reads, Roster: []string{"implementer", "reviewer"}}}
	}
	for _, tt := range []struct {
		name, review string
		give         store.Agent
		want         string
	}{
		{"no review", "", store.Agent{Status: done}, ""},
		{"no reviewer has answered", ReviewAuto, store.Agent{Status: done}, "was not reviewed"},
		{"one has passed it", ReviewAuto, store.Agent{Status: done, Appraisal: passed}, ""},
		{"one has not", ReviewAuto, store.Agent{Status: done, Appraisal: wrong}, "did not pass its review"},
		{"accepted without a review", ReviewAuto, store.Agent{Status: done, Review: said(task.Accepted)}, ""},
		{"rejected after one", ReviewAuto, store.Agent{Status: done, Appraisal: passed, Review: said(task.Rejected)}, "was rejected"},
		{"its check failed", ReviewAuto, store.Agent{Status: &task.Completed{Work: task.Work{Patch: patch}, Verified: &no}}, "failed its check"},
		{"it failed", ReviewAuto, store.Agent{Status: &task.Failed{Work: task.Work{Patch: patch}}}, "failed"},
		{"a change of a reviewer", ReviewAuto, store.Agent{Status: done, Call: stage(ReviewStage, true)}, "is of a stage that only reads"},
		{"out of scope", "", store.Agent{Status: &task.Completed{Work: task.Work{Patch: &task.Patch{Commit: "c", OutOfScope: []string{"x"}}}}}, "changes files outside its paths"},
		{
			"over submodules", "",
			store.Agent{Status: &task.Completed{Work: task.Work{Patch: &task.Patch{Commit: "c", Replaced: []string{"x", "y", "z"}}}}},
			"puts plain files in place of a submodule: x and 2 more",
		},
		{"refused by the check of a merge", "", store.Agent{Status: done, Refusal: &store.Refusal{}}, "failed the check of a merge"},
		{"accepted, then refused", "", store.Agent{Status: done, Review: said(task.Accepted), Refusal: &store.Refusal{}}, "failed the check of a merge"},
		{"stale elsewhere", "", store.Agent{Status: done, Refusal: &store.Refusal{Refusal: event.Refusal{Kind: "stale"}}}, ""},
		{"takes lines back", "", store.Agent{Status: done, Refusal: &store.Refusal{Refusal: event.Refusal{Kind: "undoes"}}}, ErrUndoes.Error()},
		{"cancelled", "", store.Agent{Status: &task.Cancelled{Work: task.Work{Patch: patch}}}, "was cancelled"},
		{"without a patch", "", store.Agent{Status: &task.Completed{}}, "changed nothing"},
		{"not captured", "", store.Agent{Status: &task.Failed{Kind: task.CaptureFailed}}, "could not be captured"},
		{"running", "", store.Agent{Status: &task.Running{}}, "has not ended"},
		{"a stage that awaits one", "", store.Agent{Status: done, Call: stage("implementer", false)}, "was not reviewed"},
		{"a stage that does not", "", store.Agent{Status: done, Call: stage("build", false)}, ""},
	} {
		if tt.give.Call == nil {
			tt.give.Call = &task.Call{}
		}
		got := ""
		if err := Landable(tt.review, &tt.give); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: Landable = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestChangedNothing: all agents completed without a patch, and not all of them
// could only read.
func TestChangedNothing(t *testing.T) {
	t.Parallel()
	patch := &task.Patch{Commit: "c"}
	reader := endedAgent("a2", "", &task.Completed{})
	reader.Call.ReadOnly = true
	for name, tt := range map[string]struct {
		agents []*store.Agent
		want   bool
	}{
		"no agent":      {nil, false},
		"no change":     {[]*store.Agent{endedAgent("a1", "", &task.Completed{}), reader}, true},
		"only readers":  {[]*store.Agent{reader}, false},
		"a change":      {[]*store.Agent{endedAgent("a1", "", &task.Completed{}), endedAgent("a3", "", &task.Completed{Work: task.Work{Patch: patch}})}, false},
		"a failure":     {[]*store.Agent{endedAgent("a1", "", &task.Completed{}), endedAgent("a3", "", &task.Failed{})}, false},
		"still running": {[]*store.Agent{endedAgent("a1", "", &task.Completed{}), {ID: "a3", Call: &task.Call{}, Status: &task.Running{}}}, false},
	} {
		if got := ChangedNothing(&store.View{Agents: tt.agents}); got != tt.want {
			t.Errorf("%s: ChangedNothing = %t, want %t", name, got, tt.want)
		}
	}
}

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestVerdictOf: what a reviewer found decides, and an answer that cannot be
// read lets nothing pass.
func TestVerdictOf(t *testing.T) {
	t.Parallel()
	structured := func(text string) *task.Completed { return &task.Completed{Structured: json.RawMessage(text)} }
	for _, tt := range []struct {
		name     string
		give     *task.Completed
		pass     bool
		problems string
	}{
		{"nothing is wrong", structured(`{"pass":true,"problems":[]}`), true, ""},
		{"something is", structured(`{"pass":false,"problems":[{"path":"a.go","problem":"it leaks"}]}`), false, "a.go: it leaks"},
		{"it says both", structured(`{"pass":true,"problems":[{"problem":"it leaks"}]}`), false, "it leaks"},
		{"another form", structured(`["pass"]`), false, "nobody knows what its reviewer found: read a verdict: "},
		{"none", &task.Completed{Answer: "It is fine."}, false, "nobody knows what its reviewer found: read a verdict: "},
		{"one that is gone", &task.Completed{Whole: &task.Whole{File: filepath.Join(t.TempDir(), "answer.json")}}, false, "nobody knows what its reviewer found: read an answer: "},
	} {
		got := verdictOf(tt.give)
		var problems []string
		for _, p := range got.Problems {
			problems = append(problems, p.String())
		}
		if text := strings.Join(problems, "; "); got.Pass != tt.pass || !strings.HasPrefix(text, tt.problems) || (text == "") != (tt.problems == "") {
			t.Errorf("%s: verdictOf = %t, %q, want %t, %q", tt.name, got.Pass, text, tt.pass, tt.problems)
		}
	}
}

// TestLandable: where patches are reviewed, silence lets none land. What a
// person says counts more.
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
		{"nobody reviews", "", store.Agent{Status: done}, ""},
		{"no reviewer has answered", reviewAuto, store.Agent{Status: done}, "was not reviewed"},
		{"one has passed it", reviewAuto, store.Agent{Status: done, Appraisal: passed}, ""},
		{"one has not", reviewAuto, store.Agent{Status: done, Appraisal: wrong}, "did not pass its review"},
		{"accepted without a review", reviewAuto, store.Agent{Status: done, Review: said(task.Accepted)}, ""},
		{"rejected after one", reviewAuto, store.Agent{Status: done, Appraisal: passed, Review: said(task.Rejected)}, "was rejected"},
		{"its check failed", reviewAuto, store.Agent{Status: &task.Completed{Work: task.Work{Patch: patch}, Verified: &no}}, "is not verified"},
		{"it failed", reviewAuto, store.Agent{Status: &task.Failed{Work: task.Work{Patch: patch}}}, "failed"},
		{"what a reviewer changed", reviewAuto, store.Agent{Status: done, Call: stage(reviewStage, true)}, "is of a stage that only reads"},
		{"a stage that awaits one", "", store.Agent{Status: done, Call: stage("implementer", false)}, "was not reviewed"},
		{"a stage that does not", "", store.Agent{Status: done, Call: stage("build", false)}, ""},
	} {
		if tt.give.Call == nil {
			tt.give.Call = &task.Call{}
		}
		got := ""
		if err := landable(tt.review, &tt.give); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: landable = %q, want %q", tt.name, got, tt.want)
		}
	}
}

package landing

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestOriginOf: lines that landed after the first attempt began are guarded, unless the
// work was begun anew or a person decided.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	at := func(base string) *task.Completed {
		return &task.Completed{Work: task.Work{Patch: &task.Patch{Base: base, Commit: "c-" + base}}}
	}
	earlier := []*event.Captured{{Attempt: 1, Patch: at("old").Patch}}
	anew := &event.RetryAsked{After: 1, Fresh: true}
	back := &event.RetryAsked{After: 1, Fresh: true, HandedBack: &event.HandedBack{Kind: "text", With: []task.ID{"a1"}, Patch: at("old").Patch}}
	for _, tt := range []struct {
		name           string
		give           store.Agent
		want, resolved string
	}{
		{"the first attempt", store.Agent{Status: at("old"), Attempt: 1}, "", ""},
		{"a later one on the same base", store.Agent{Status: at("old"), Attempt: 2, Earlier: earlier}, "", ""},
		{"a later one on another base", store.Agent{Status: at("new"), Attempt: 2, Earlier: earlier}, "old", ""},
		{"begun anew", store.Agent{Status: at("new"), Attempt: 2, Earlier: earlier, Retry: anew}, "", ""},
		{"asked to begin anew, and has not", store.Agent{Status: at("new"), Attempt: 1, Earlier: earlier, Retry: anew}, "old", ""},
		{"handed back to a neutral agent", store.Agent{Status: at("new"), Attempt: 2, Earlier: earlier, Retry: back}, "old", "text with a1"},
		{"accepted", store.Agent{Status: at("new"), Attempt: 2, Earlier: earlier, Review: &event.Reviewed{Verdict: task.Accepted}}, "", ""},
		{"a copy of a person", store.Agent{Status: at("new"), Attempt: 2, Earlier: earlier, Copy: 1, Retry: back}, "", ""},
		{"no patch", store.Agent{Status: &task.Completed{}, Attempt: 2, Earlier: earlier}, "", ""},
	} {
		if got := OriginOf(&tt.give); string(got) != tt.want {
			t.Errorf("%s: OriginOf = %q, want %q", tt.name, got, tt.want)
		}
		if got := ResolvedText(&tt.give); got != tt.resolved {
			t.Errorf("%s: ResolvedText = %q, want %q", tt.name, got, tt.resolved)
		}
		if r := ResolutionOf(&tt.give); (r != nil) != (tt.resolved != "") {
			t.Errorf("%s: ResolutionOf = %v", tt.name, r)
		}
	}
}

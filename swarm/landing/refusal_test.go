package landing

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestRefusalText: each kind of refusal has a text of its own.
func TestRefusalText(t *testing.T) {
	t.Parallel()
	many := []task.ID{"a1", "a2", "a3", "a4", "a5", "a6", "a7"}
	for _, tt := range []struct {
		refusal event.Refusal
		want    string
	}{
		{event.Refusal{Kind: "failed"}, "failed: the check passed on main, and failed in 2 runs with this patch alone"},
		{event.Refusal{Kind: "failed", Outputs: []string{"1", "2", "3"}}, "failed: the check passed on main, and failed in 3 runs with this patch, the first 2 with it alone"},
		{event.Refusal{Kind: "interaction", On: []task.ID{"a1", "a2"}, Outputs: []string{"1", "2", "3"}}, "interaction: the check passed on main with a1, a2, and failed in 3 runs with this patch added"},
		{event.Refusal{Kind: "dependency", Needs: []task.ID{"a2", "a5"}, On: []task.ID{"a1"}}, "depends on a2, a5, which were refused"},
		{event.Refusal{Kind: "dependency", Needs: many}, "depends on a1, a2, a3, a4, a5, and 2 more, which were refused"},
		{event.Refusal{Kind: "stale"}, "stale: main has all of its changes already"},
		{event.Refusal{Kind: "stale", On: []task.ID{"a1"}}, "stale: main has all of its changes already, by a1"},
		{event.Refusal{Kind: "undoes", Lines: make([]event.TakenBack, 1)}, "undoes: it takes back lines of main that landed after its work began (1 line)"},
		{event.Refusal{Kind: "undoes", On: []task.ID{"a1"}, Lines: make([]event.TakenBack, 2), More: 3}, "undoes: it takes back lines of a1 that landed after its work began (5 lines)"},
	} {
		if got := RefusalText("refs/heads/main", tt.refusal); got != tt.want {
			t.Errorf("RefusalText(%v) = %q, want %q", tt.refusal, got, tt.want)
		}
	}
}

// TestTakenBackText: a line is shown with its file and its sign.
func TestTakenBackText(t *testing.T) {
	t.Parallel()
	for want, give := range map[string]event.TakenBack{
		"f:3: -x":  {Path: "f", Line: 3, Text: "x"},
		"f: +x":    {Path: "f", Line: 3, Text: "x", Back: true},
		"logo.png": {Path: "logo.png"},
	} {
		if got := TakenBackText(give); got != want {
			t.Errorf("TakenBackText(%v) = %q, want %q", give, got, want)
		}
	}
}

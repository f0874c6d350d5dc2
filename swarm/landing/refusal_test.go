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
	} {
		if got := RefusalText("refs/heads/main", tt.refusal); got != tt.want {
			t.Errorf("RefusalText(%v) = %q, want %q", tt.refusal, got, tt.want)
		}
	}
}

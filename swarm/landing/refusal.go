package landing

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/event"
	"agentswarm/swarm/landing/queue"
	"agentswarm/swarm/task"
)

// RefusalText says why the check of a merge onto ref refused a patch.
func RefusalText(ref string, r event.Refusal) string {
	on := strings.TrimPrefix(ref, "refs/heads/")
	if len(r.On) > 0 {
		on += " with " + listed(r.On)
	}
	runs := max(2, len(r.Outputs)) // an older journal has two
	switch queue.Kind(r.Kind) {
	default: // failed, and older kinds
	case queue.Dependency:
		verb := "was"
		if len(r.Needs) > 1 {
			verb = "were"
		}
		return fmt.Sprintf("depends on %s, which %s refused", listed(r.Needs), verb)
	case queue.Interaction:
		return fmt.Sprintf("interaction: the check passed on %s, and failed in %d runs with this patch added", on, runs)
	}
	alone := " alone"
	if runs > 2 {
		alone = ", the first 2 with it alone"
	}
	return fmt.Sprintf("failed: the check passed on %s, and failed in %d runs with this patch%s", on, runs, alone)
}

// listed names agents: at most five, and the number of the others.
func listed(ids []task.ID) string {
	const most = 5
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	if more := len(words) - most; more > 1 {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

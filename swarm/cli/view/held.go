package view

import (
	"fmt"
	"strings"

	"agentswarm/internal/termtext"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// HeldNote says why agents wait. It is empty where none does, and where the name
// of their state says it: the counts of a frame show that.
func HeldNote(v *store.View) string {
	most, n := HeldReason(v)
	if most == "" || strings.HasPrefix(most, task.WaitingSlot.Text()+" (") || strings.HasPrefix(most, task.WaitingCheck.Text()) {
		return ""
	}
	return fmt.Sprintf("%s: %s", termtext.Count(n, "agent", "agents"), most)
}

// HeldReason is why most of the agents wait that could be at work, and how many
// have that reason; empty where none does.
func HeldReason(v *store.View) (most string, count int) {
	n := map[string]int{}
	for _, a := range v.Agents {
		if a.Held == "" {
			continue
		}
		if n[a.Held]++; n[a.Held] > n[most] {
			most = a.Held
		}
	}
	return most, n[most]
}

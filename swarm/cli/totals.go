package cli

import (
	"fmt"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// totalsText is how the agents of a run ended, and their usage.
func totalsText(v *store.View) string {
	n := v.Counts()
	text := ""
	for _, p := range []struct {
		n    int
		name string
	}{{n.Completed, "completed"}, {n.Failed, "failed"}, {n.Cancelled, "cancelled"}, {n.Of[task.Queued], "queued"}} {
		if p.n > 0 {
			text += fmt.Sprintf(", %d %s", p.n, p.name)
		}
	}
	if failed := failedChecks(v); failed > 0 {
		text += fmt.Sprintf(", %s failed", Count(failed, "check", "checks"))
	}
	if spent := spentLine(v, v.Ended); spent != "" {
		return text + ", " + spent
	}
	for _, used := range []string{tokensText(v.Usage().Tokens()), dollarsText(v.Usage().CostUSD)} {
		if used != "" {
			text += ", " + used
		}
	}
	return text
}

// failedChecks is how many agents have completed and failed their checks.
func failedChecks(v *store.View) int {
	n := 0
	for _, a := range v.Agents {
		if r, ok := a.Status.(*task.Completed); ok && r.Verified != nil && !*r.Verified {
			n++
		}
	}
	return n
}

// timesText is how long an agent has worked, and for how long it was checked and
// has waited, where it did.
func timesText(o agentObject) string {
	ms := func(n int64) string { return Duration(time.Duration(n) * time.Millisecond) }
	text := ms(o.Worked)
	if o.Checked > 0 {
		text += ", checked for " + ms(o.Checked)
	}
	if waited := waitedText(o); waited != "" {
		text += ", waited for " + waited
	}
	return text
}

package view

import (
	"fmt"
	"strings"
	"time"

	"agentswarm/internal/terminal"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/spending"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// EndText returns the last line of a run: results, time and usage. It names the status if the
// run did not reach its end or has no agents.
func EndText(v *store.View, term terminal.Output) string {
	run, counts, took := "run "+v.Identity.Run, countsText(v), termtext.Duration(v.Took(v.Ended))
	state := term.State(StatusText(v))
	ended := v.Status == store.RunCompleted || v.Status == store.RunDegraded
	switch {
	case counts == "":
		run += " " + state
	case ended && v.Reason == "":
		run += ": " + counts
	default:
		run += " " + state + ": " + counts
	}
	run += " in " + took
	if used := usedText(v); used != "" {
		run += ", " + used
	}
	return run
}

// countsText counts the agents of a run by their ends; empty for none.
func countsText(v *store.View) string {
	n := v.Counts()
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{n.Completed, "completed"}, {n.Failed, "failed"}, {n.Cancelled, "cancelled"}, {n.Of[task.Queued], "queued"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}
	if failed := failedChecks(v); failed > 0 {
		parts = append(parts, termtext.Count(failed, "check", "checks")+" failed")
	}
	return strings.Join(parts, ", ")
}

// usedText is the usage of a run, as far as it is known.
func usedText(v *store.View) string {
	if spent := spending.Line(v, v.Ended); spent != "" {
		return spent
	}
	var parts []string
	for _, used := range []string{termtext.Tokens(v.Usage().Tokens()), DollarsText(v.Usage().CostUSD)} {
		if used != "" {
			parts = append(parts, used)
		}
	}
	return strings.Join(parts, ", ")
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

// TimesText returns how long an agent worked, was checked and waited.
func TimesText(o AgentObject) string {
	ms := func(n int64) string { return termtext.Duration(time.Duration(n) * time.Millisecond) }
	text := ms(o.Worked)
	if o.Checked > 0 {
		text += ", checked for " + ms(o.Checked)
	}
	if waited := waitedText(o); waited != "" {
		text += ", waited for " + waited
	}
	return text
}

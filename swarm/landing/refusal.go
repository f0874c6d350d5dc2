package landing

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/internal/termtext"
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
	switch r.Kind {
	case event.RefusedStale:
		return "stale: " + StaleText(ref, r)
	case event.RefusedUndoes:
		return undoesText(ref, r)
	}
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

// StaleText says that a branch has the changes of a patch already, and by whom.
func StaleText(ref string, r event.Refusal) string {
	text := strings.TrimPrefix(ref, "refs/heads/") + " has all of its changes already"
	if len(r.On) > 0 {
		text += ", by " + listed(r.On)
	}
	return text
}

// undoesText says how much of which patches a patch takes back.
func undoesText(ref string, r event.Refusal) string {
	whose := "lines of " + strings.TrimPrefix(ref, "refs/heads/")
	if len(r.On) > 0 {
		whose = "lines of " + listed(r.On)
	}
	return fmt.Sprintf("undoes: it takes back %s that landed after its work began (%s)", whose, termtext.Count(len(r.Lines)+r.More, "line", "lines"))
}

// TakenBackText names a line that a patch takes back, as a line of a diff to the result.
func TakenBackText(l event.TakenBack) string {
	switch {
	case l.Line == 0:
		return l.Path
	case l.Back:
		return fmt.Sprintf("%s: +%s", l.Path, l.Text)
	default:
		return fmt.Sprintf("%s:%d: -%s", l.Path, l.Line, l.Text)
	}
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

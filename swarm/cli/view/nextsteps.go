package view

import (
	"fmt"
	"io"
	"strings"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// maxSteps is how many commands a person is told of: more are no advice.
const maxSteps = 3

// PrintNext prints the commands that usually come next, or nothing if no work is left.
func PrintNext(p *cmdline.Place, w io.Writer, v *store.View) {
	title := "next: "
	for _, step := range NextSteps(p, v) {
		fmt.Fprintf(w, "%s%s\n", title, step)
		title = "      "
	}
}

// NextSteps returns at most maxSteps commands for the outcome of a run.
func NextSteps(p *cmdline.Place, v *store.View) []string {
	calls := p.Env.Calls
	if v.Status == store.RunPaused {
		return []string{resumeCommand(p, v)} // with a larger budget
	}
	var lines []string
	for _, step := range landing.NextSteps(landing.NextRequest{View: v, Review: session.ReviewOf(v)}) {
		if a := step.Conflict; a != nil {
			lines = append(lines, ConflictAt{Run: v.Identity.Run, Agent: a, Ref: a.Conflict.Ref}.Ways(calls)...)
			continue
		}
		line := calls + " " + strings.Join(step.Words, " ")
		if step.Note != "" {
			line += " # " + step.Note
		}
		lines = append(lines, line)
	}
	return lines[:min(len(lines), maxSteps)]
}

func isCompleted(a *store.Agent) bool {
	_, ok := a.Status.(*task.Completed)
	return ok
}

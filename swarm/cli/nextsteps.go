package cli

import (
	"fmt"
	"io"
	"strings"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// maxSteps is how many commands a person is told of: more are no advice.
const maxSteps = 3

// printNext tells which commands usually come next, each as it can be typed. It
// prints nothing where nothing is left to be done.
func (p *place) printNext(w io.Writer, v *store.View) {
	title := "next: "
	for _, step := range p.nextSteps(v) {
		fmt.Fprintf(w, "%s%s\n", title, step)
		title = "      "
	}
}

// nextSteps are the commands that fit the outcome of a run, at most maxSteps.
func (p *place) nextSteps(v *store.View) []string {
	calls := p.Env.Calls
	if v.Status == store.RunPaused {
		return []string{p.resumeCommand(v)} // with a larger budget
	}
	var lines []string
	for _, step := range landing.NextSteps(landing.NextRequest{View: v, Review: session.ReviewOf(v)}) {
		if a := step.Conflict; a != nil {
			lines = append(lines, conflictAt{run: v.Identity.Run, agent: a, ref: a.Conflict.Ref}.ways(calls)...)
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

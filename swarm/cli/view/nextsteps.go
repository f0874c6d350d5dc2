package view

import (
	"fmt"
	"io"
	"strings"

	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/copies"
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
	resolving := Resolving(p, v)
	for _, a := range v.Agents {
		if resolving[a.ID] {
			lines = append(lines, ConflictAt{Run: v.Identity.Run, Agent: a, Open: true}.Ways(calls)...)
		}
	}
	for _, step := range landing.NextSteps(landing.NextRequest{View: v, Review: session.ReviewOf(v)}) {
		if a := step.Conflict; a != nil {
			if resolving[a.ID] {
				continue
			}
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

// Resolving returns the agents of a run whose conflicts a person resolves in an open
// workspace. It is empty where the workspaces cannot be listed: the other commands fit
// then, too.
func Resolving(p *cmdline.Place, v *store.View) map[task.ID]bool {
	if p.State == nil || v.Status == store.RunRunning {
		return nil
	}
	run, err := p.State.Run(v.Identity.Run)
	if err != nil {
		return nil
	}
	open, err := copies.Resolutions(run, "")
	if err != nil {
		return nil
	}
	all := map[task.ID]bool{}
	for _, c := range open {
		all[c.Agent] = true
	}
	return all
}

func isCompleted(a *store.Agent) bool {
	_, ok := a.Status.(*task.Completed)
	return ok
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"agentswarm/swarm/selector"
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
	calls, run := p.env.Calls, v.Identity.Run
	switch v.Status {
	case store.RunRunning:
		return []string{calls + " wait " + run}
	case store.RunPaused:
		return []string{p.resumeCommand(v)}
	case store.RunStopped:
		return []string{calls + " resume " + run}
	}
	n := nextOf(v)
	var steps []string
	add := func(format string, args ...any) {
		steps = append(steps, calls+" "+fmt.Sprintf(format, args...))
	}
	switch {
	case n.again && n.failed:
		add("show %s --failed", run)
		add("resume %s", run)
	case n.again:
		add("resume %s", run)
	case n.failed && v.Script != nil: // the script decides on retries
		add("show %s --failed", run)
	case n.failed:
		add("show %s --failed", run)
		add("retry %s --failed", run)
	}
	switch {
	case len(n.rivals) > 0:
		add("diff %s --unlanded", run)
		choice := fmt.Sprintf("merge %s/%s", run, n.rivals[0])
		if others := n.rivals[1:]; len(others) > 0 {
			choice += " # or " + strings.Join(others[:min(len(others), 5)], ", ")
		}
		add("%s", choice)
	case n.ready && len(steps) == 0:
		add("diff %s", run)
		add("merge %s", run)
	case n.ready:
		add("merge %s", run)
	case len(n.conflicts) > 0:
		for _, a := range n.conflicts {
			steps = append(steps, conflictAt{run: run, agent: a, ref: a.Conflict.Ref}.ways(calls)...)
		}
	case len(n.left) == 1 && len(steps) == 0:
		at := run + "/" + n.left[0]
		add("diff %s", at)
		add("merge %s", at)
		add("accept %s", at)
	case len(n.left) > 1 && !n.failed:
		add("diff %s --unlanded", run)
	}
	return steps[:min(len(steps), maxSteps)]
}

// nextFacts are the facts of a run that has ended that call for a command.
type nextFacts struct {
	failed    bool           // an agent or its check failed
	again     bool           // a resume would run agents that never ran
	ready     bool           // a merge would take a patch
	rivals    []string       // alternatives: the user chooses among them
	conflicts []*store.Agent // those that a merge left out for a conflict
	left      []string       // patches that a merge takes by their names only
}

func nextOf(v *store.View) nextFacts {
	var n nextFacts
	decided := map[string]bool{} // groups of alternatives
	for _, a := range v.Agents {
		decided[a.Call.Group] = decided[a.Call.Group] || a.Call.Group != "" && a.Landed()
	}
	n.conflicts = v.InConflict()
	review := reviewOf(v)
	for _, a := range workers(v) {
		id := string(a.ID)
		unlanded := !a.Landed()
		err := landable(review, a)
		// An accepted patch needs no repair.
		n.failed = n.failed || unlanded && err != nil && selector.Failed(a)
		c, cancelled := a.Status.(*task.Cancelled)
		n.again = n.again || v.Script == nil && (cancelled && !a.ByName() && c.Patch == nil || errors.Is(err, errUnreviewed))
		switch {
		case !unlanded || decided[a.Call.Group] || a.Conflict != nil:
		case err == nil && a.Call.Group != "":
			n.rivals = append(n.rivals, id)
		case err == nil:
			n.ready = true
		case patchOf(a) != nil && !rejected(a) && (a.Call.Stage == nil || !a.Call.Stage.Reads):
			n.left = append(n.left, id)
		}
	}
	return n
}

func isCompleted(a *store.Agent) bool {
	_, ok := a.Status.(*task.Completed)
	return ok
}

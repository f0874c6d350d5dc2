package landing

import (
	"errors"
	"slices"
	"strings"

	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Step is a command that fits the outcome of a run, without the name of the
// program.
type Step struct {
	Words []string // such as merge, k3x9q2/a1; the first is the command
	Note  string   // a comment behind it; empty: none
	// Conflict is set instead of Words where a patch conflicts with a branch: the
	// commands are those that resolve a conflict.
	Conflict *store.Agent
}

// NextRequest asks for the commands that come next.
type NextRequest struct {
	View   *store.View // required
	Review string      // the review mode of the run
}

// NextSteps are the commands that fit the outcome of a run, the best first. It is
// empty where nothing is left to be done. A paused or stopped run is resumed; its
// resume may need a larger budget, which the caller adds.
func NextSteps(r NextRequest) []Step {
	run := r.View.Identity.Run
	switch r.View.Status {
	case store.RunRunning, store.RunWaiting:
		return liveSteps(r.View)
	case store.RunPaused, store.RunStopped:
		return []Step{{Words: []string{"resume", run}}}
	case store.RunCompleted, store.RunDegraded, store.RunFailed:
	}
	n := outcomeOf(r)
	steps := n.repairs(r.View)
	add := func(words ...string) { steps = append(steps, Step{Words: words}) }
	switch {
	case len(n.rivals) > 0:
		add("diff", run, "--unlanded")
		choice := Step{Words: []string{"merge", run + "/" + n.rivals[0]}}
		if others := n.rivals[1:]; len(others) > 0 {
			choice.Note = "or " + strings.Join(others[:min(len(others), 5)], ", ")
		}
		steps = append(steps, choice)
	case n.ready && len(steps) == 0:
		add("diff", run)
		add("merge", run)
	case n.ready:
		add("merge", run)
	case len(n.conflicts) > 0:
		for _, a := range n.conflicts {
			steps = append(steps, Step{Conflict: a})
		}
	case len(n.undoing) > 0:
		for _, id := range n.undoing {
			add("diff", run+"/"+id)
			steps = append(steps, Step{Words: []string{"accept", run + "/" + id}, Note: "then merge: it takes landed lines back"})
		}
	case len(n.refused) > 0:
		add(append([]string{"show"}, n.refused...)...)
		add(append([]string{"retry"}, n.refused...)...)
	case len(n.left) == 1 && len(steps) == 0:
		at := run + "/" + n.left[0]
		add("diff", at)
		add("merge", at)
		add("accept", at)
	case len(n.left) > 1 && !n.failed:
		add("diff", run, "--unlanded")
	}
	return steps
}

// liveSteps are the commands for a live run. A run with open questions waits for
// answers, so that a wait for its end would not end.
func liveSteps(v *store.View) []Step {
	open := v.Waiting()
	if len(open) == 0 {
		return []Step{{Words: []string{"wait", v.Identity.Run}}}
	}
	steps := []Step{{Words: []string{"inbox"}}}
	if len(open) > 1 {
		return steps
	}
	id := open[0].ID
	if _, inquiry := inbox.InquiryOf(&open[0].Questioned); inquiry {
		return append(steps, Step{Words: []string{"answer", id}})
	}
	return append(steps, Step{Words: []string{"approve", id}}, Step{Words: []string{"deny", id}})
}

// maxRefused bounds the addresses of a command for refused patches.
const maxRefused = 5

// outcome has the facts of an ended run that call for a command.
type outcome struct {
	failed    bool           // an agent or its check failed
	again     bool           // a resume would run agents that never ran
	ready     bool           // a merge would take a patch
	rivals    []string       // alternatives: the user chooses among them
	conflicts []*store.Agent // a merge left them out for a conflict
	undoing   []string       // a merge left them out, since they take landed lines back
	refused   []string       // addresses of at most maxRefused agents whose patches the check of a merge refused
	left      []string       // a merge takes their patches by name only
}

// repairs are the commands that repair the failures of a run. Its script decides
// on retries itself.
func (n outcome) repairs(v *store.View) (steps []Step) {
	run := v.Identity.Run
	if n.failed {
		steps = append(steps, Step{Words: []string{"show", run, "--failed"}})
	}
	switch {
	case n.again:
		steps = append(steps, Step{Words: []string{"resume", run}})
	case n.failed && v.Script == nil:
		steps = append(steps, Step{Words: []string{"retry", run, "--failed"}})
	}
	return steps
}

func outcomeOf(r NextRequest) outcome {
	v := r.View
	n := outcome{conflicts: v.InConflict()}
	// Groups of alternatives: groups with a landed alternative, and groups that
	// need no repair, since an alternative has landed or may land.
	decided, solved := map[string]bool{}, map[string]bool{}
	for _, a := range v.Agents {
		if group := a.Call.Group; group != "" {
			decided[group] = decided[group] || a.Landed()
			solved[group] = solved[group] || a.Landed() || a.Conflict == nil && a.Patch() != nil && Landable(r.Review, a) == nil
		}
	}
	refused := func(id task.ID) bool { a := v.Agent(id); return a != nil && a.Refusal != nil }
	for _, a := range Workers(v) {
		id := string(a.ID)
		unlanded := !a.Landed()
		err := Landable(r.Review, a)
		// An accepted patch needs no repair.
		n.failed = n.failed || unlanded && err != nil && a.Failed() && !solved[a.Call.Group]
		c, cancelled := a.Status.(*task.Cancelled)
		n.again = n.again || v.Script == nil && (cancelled && !a.ByName() && c.Patch == nil || errors.Is(err, ErrUnreviewed))
		switch {
		case !unlanded || decided[a.Call.Group] || a.Conflict != nil:
		case errors.Is(err, ErrUndoes):
			n.undoing = append(n.undoing, id)
		case err == nil && a.Call.Group != "":
			n.rivals = append(n.rivals, id)
		case err == nil:
			n.ready = true
		case errors.Is(err, ErrRefused):
			// A patch that builds on a refused patch waits for that.
			if !slices.ContainsFunc(a.Refusal.Needs, refused) && len(n.refused) < maxRefused {
				n.refused = append(n.refused, v.Identity.Run+"/"+id)
			}
		case a.Patch() != nil && !Declined(a) && (a.Call.Stage == nil || !a.Call.Stage.Reads):
			n.left = append(n.left, id)
		}
	}
	return n
}

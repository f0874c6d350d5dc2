package store

import (
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Choice is what a script decided about the work of an agent, and By the
// function of the script that did: race or land. Both are empty where no script
// made a choice.
type Choice struct {
	Of task.Selection
	By string
}

// scriptLandings are the agents whose patches the script has landed, in landings
// that stand.
type scriptLandings struct{ agents []task.ID }

// of reads them from all landings of a run.
func (s *scriptLandings) of(all []*Landing) {
	s.agents = nil
	for _, l := range all {
		if l.Key != "" && l.Stands() {
			s.agents = append(s.agents, l.Agents...)
		}
	}
}

// choose records the outcome of a race.
func (v *View) choose(e *event.Chosen) {
	for _, id := range e.Won {
		v.about(id).Raced = task.Selected
	}
	for _, id := range e.Lost {
		v.about(id).Raced = task.PassedOver
	}
}

// Choice is what the script of the run decided about the agent's work. A race
// comes first. Where the script has landed patches, it has passed over all other
// ones. A person who sends the agent back, or accepts its work, takes back what
// the script decided against it.
func (a *Agent) Choice() Choice {
	if a.landed == nil {
		return Choice{}
	}
	if slices.Contains(a.landed.agents, a.ID) {
		return Choice{Of: task.Selected, By: "land"}
	}
	switch {
	case a.Raced != "":
		return Choice{Of: a.Raced, By: "race"}
	case len(a.landed.agents) == 0, a.Retry != nil, a.Accepted():
		return Choice{}
	default:
		return Choice{Of: task.PassedOver, By: "land"}
	}
}

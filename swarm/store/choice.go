package store

import (
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Choice is the decision of a script about the work of an agent. By is the
// function of the script that made it: race or land. Both are empty where no
// script made a choice.
type Choice struct {
	Of task.Selection
	By string
}

// scriptLandings are the agents whose patches the script has landed, in landings
// that stand.
type scriptLandings struct{ agents []task.ID }

// of collects them from all landings of a run.
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

// Choice is the decision of the run's script about the agent's work. A race comes
// first. A script that has landed patches has passed over all others. A person
// who sends the agent back, or accepts its work, takes back a decision of the
// script against it.
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

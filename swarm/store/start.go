package store

import (
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// start notes that something was started for an agent.
func (v *View) start(at time.Time, e *event.Started) {
	a := v.about(e.Agent)
	v.begin(a, at, e.Attempt)
	if e.Attempt == a.Attempt {
		a.moves(at)
		a.Entered = true
		if s, ok := a.Status.(*task.Running); ok && e.Step == stepVerify {
			a.enter(task.Checking, at)
		} else if ok && s.State == task.Working {
			a.clock.enter(task.Working, at)
		}
		if e.Step == "agent" {
			a.Round, a.Exit, a.Exited = e, nil, time.Time{}
			v.inherit(a)
		}
	}
	a.Supervisors = append(a.Supervisors, e)
}

// inherit notes the usage of the conversation that an agent continues. Its
// parent may be sent back later, and use more.
func (v *View) inherit(a *Agent) {
	a.Prior = task.Usage{}
	if a.Call == nil {
		return // the agent was never called
	}
	if a.Continued != nil {
		a.Prior = a.Continued.Used
		return
	}
	fork, ok := a.Call.Input.(*task.ForkAgentInput)
	if !ok {
		return
	}
	if r := v.about(fork.Parent).Result(); r != nil {
		a.Prior = r.Done().Conversation
	}
}

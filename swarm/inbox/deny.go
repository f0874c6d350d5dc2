package inbox

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Deny takes a question that a script denies: it never waits, and no answer
// that holds already allows it.
func (b *Box) Deny(agent task.ID, attempt int, asked *event.Asked, reason string) (*event.Questioned, *event.Replied) {
	b.asked++
	q := &event.Questioned{
		ID: ID(b.run, b.asked), Agent: agent, Attempt: attempt, Ask: asked.ID, Action: asked.Action,
	}
	return q, &event.Replied{ID: q.ID, By: task.ByScript, Reason: reason}
}

package cli

import (
	"context"
	"fmt"
	"sync"

	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// controls is what other processes may ask of a live run.
type controls struct {
	engine *engine.Engine
	owner  *store.Owner

	mu      sync.Mutex       // guards typists
	typists map[task.ID]bool // agents whose terminal somebody types into
}

// Supervises tells whether a process stands above agents of this run.
func (c *controls) Supervises(pid int) bool { return c.engine.Supervises(pid) }

// Carry carries a request out.
func (c *controls) Carry(_ context.Context, r control.Request) error {
	switch r := r.(type) {
	case *control.Cancel:
		return c.engine.Cancel(r.Agents, &engine.Halt{Cause: r.Cause, Reason: r.Reason})
	case *control.Stop:
		return c.engine.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: r.Reason})
	case *control.Retry:
		return c.engine.Retry(engine.RetryRequest{Agents: r.Agents, Feedback: r.Feedback, Fresh: r.Fresh})
	case *control.Review:
		return c.engine.Review(r.Marks)
	case *control.Answer:
		return c.engine.Answer(inbox.Answer{Shown: r.Shown, Replied: event.Replied{
			ID: r.ID, Allow: r.Allow, Text: r.Text, Reason: r.Reason, For: r.For,
		}})
	case *control.Send:
		return c.engine.Send(r.Agent, r.Text)
	case *control.Ping, *control.Attach: // the server sees to these
		return nil
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

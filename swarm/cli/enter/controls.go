package enter

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"agentswarm/swarm/control"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/inbox"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// Controls carries out the requests of other processes to a live run.
type Controls struct {
	Engine *engine.Engine
	Owner  *store.Owner
	// Snapshots lets actions that destroy only an agent's own files proceed once
	// those are captured.
	Snapshots *atomic.Bool

	mu      sync.Mutex       // guards typists
	typists map[task.ID]bool // agents whose terminal somebody types into
}

// Supervises reports whether a process supervises agents of this run.
func (c *Controls) Supervises(pid int) bool { return c.Engine.Supervises(pid) }

// Carry carries out a request. It returns an error if the run cannot do it now.
func (c *Controls) Carry(_ context.Context, r control.Request) error {
	switch r := r.(type) {
	case *control.Cancel:
		return c.Engine.Cancel(r.Agents, &engine.Halt{Cause: r.Cause, Reason: r.Reason})
	case *control.Stop:
		return c.Engine.Stop(&engine.Halt{Cause: task.CauseStopped, Reason: r.Reason})
	case *control.Retry:
		return c.Engine.Retry(engine.RetryRequest{Agents: r.Agents, Feedback: r.Feedback, Fresh: r.Fresh, Remarks: r.Remarks})
	case *control.Review:
		return c.Engine.Review(engine.ReviewRequest{Marks: r.Marks, Edits: r.Edits, Remarks: r.Remarks})
	case *control.Answer:
		return c.answer(r)
	case *control.Send:
		return c.Engine.Send(r.Agent, r.Text)
	case *control.Ping, *control.Attach: // the server sees to these
		return nil
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// answer answers a question, and notes whom the answer reached.
func (c *Controls) answer(r *control.Answer) (err error) {
	r.Told, err = c.Engine.Answer(inbox.Answer{Shown: r.Shown, Replied: event.Replied{
		ID: r.ID, Allow: r.Allow, Text: r.Text, Reason: r.Reason, For: r.For, All: r.All,
	}})
	if err == nil && r.Snapshot {
		c.Snapshots.Store(true)
	}
	return err
}

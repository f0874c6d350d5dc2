package cli

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

// controls is what other processes may ask of a live run.
type controls struct {
	engine *engine.Engine
	owner  *store.Owner
	// snapshots lets actions that destroy only an agent's own files proceed once
	// those are captured.
	snapshots *atomic.Bool

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
		return c.engine.Retry(engine.RetryRequest{Agents: r.Agents, Feedback: r.Feedback, Fresh: r.Fresh, Remarks: r.Remarks})
	case *control.Review:
		return c.engine.Review(engine.ReviewRequest{Marks: r.Marks, Edits: r.Edits, Remarks: r.Remarks})
	case *control.Answer:
		return c.answer(r)
	case *control.Send:
		return c.engine.Send(r.Agent, r.Text)
	case *control.Ping, *control.Attach: // the server sees to these
		return nil
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// answer answers a question, and notes whom the answer reached.
func (c *controls) answer(r *control.Answer) (err error) {
	r.Told, err = c.engine.Answer(inbox.Answer{Shown: r.Shown, Replied: event.Replied{
		ID: r.ID, Allow: r.Allow, Text: r.Text, Reason: r.Reason, For: r.For, All: r.All,
	}})
	if err == nil && r.Snapshot {
		c.snapshots.Store(true)
	}
	return err
}

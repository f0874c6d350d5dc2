package mcp

import (
	"context"
	"encoding/json"
	"errors"
)

// Dispatcher runs scripts and looks after their runs.
type Dispatcher interface {
	// Dispatch runs a script until it ends. It calls report, from one goroutine,
	// with the id of the run as soon as the run exists, and whenever an agent
	// starts or ends. The cause of ctx's end becomes the reason of the stop. An
	// error means that no run began, or that swarm itself failed.
	Dispatch(ctx context.Context, r Request, report func(Progress)) (*Status, error)
	// Attend waits until a run has ended, and reports as Dispatch does. A run that
	// was dispatched and has stopped with [ErrClientLeft], or whose process died, is
	// resumed first; it stops again when ctx ends.
	Attend(ctx context.Context, run string, report func(Progress)) (*Status, error)
	// Status returns the present state of a run. An empty id means the latest run
	// of the repository that was dispatched.
	Status(ctx context.Context, run string) (*Status, error)
	// Cancel asks the process that owns a run to stop it, and returns at once.
	Cancel(ctx context.Context, run string) error
}

// The causes with which the server stops a run.
var (
	// ErrClientLeft stops a run that no client waits for. [Dispatcher.Attend]
	// resumes such a run.
	ErrClientLeft = errors.New("the MCP client left; dispatch_wait continues it")
	// ErrCancelled stops a run for dispatch_cancel.
	ErrCancelled = errors.New("by dispatch_cancel")
)

// Request is a script and its arguments.
type Request struct {
	Code string
	Args json.RawMessage // nil: none
}

// Progress counts the agents of a run.
type Progress struct {
	Run         string // empty before the run exists
	Ended, Made int    // agents
}

// Status is the state of a run. It is the structured result of every tool.
type Status struct {
	Run    string `json:"run"`
	Status string `json:"status"` // a status of swarm.run/1
	Ended  int    `json:"ended"`  // agents
	Agents int    `json:"agents"`
	// Value is the script's return value: nil while there is none, and for
	// undefined.
	Value json.RawMessage `json:"value,omitempty"`
	// Error is the error that the script threw, and Reason why the run stopped
	// or paused.
	Error  string `json:"error,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// running reports whether the run is at work.
func (s *Status) running() bool { return s.Status == "running" || s.Status == "waiting" }

// returned reports whether the script came to its end and threw nothing. Its
// agents may have failed.
func (s *Status) returned() bool {
	switch s.Status {
	case "completed", "degraded", "failed":
		return s.Error == ""
	default:
		return false
	}
}

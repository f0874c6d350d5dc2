// Package runhook runs the commands of [hooks] in a configuration: at the start and
// end of a run and of each attempt. A command can refuse a start. It prints nothing
// and records nothing.
package runhook

import (
	"fmt"

	"agentswarm/swarm/hook"
	"agentswarm/swarm/task"
)

// event is swarm.hook/1, described in docs/stages.md: the standard input of a command
// of [hooks].
type event struct {
	Schema     string     `json:"schema"`
	Event      hook.Event `json:"event"`
	Run        string     `json:"run"`
	Repository string     `json:"repository"`
	Base       string     `json:"base"`
	// Agent is absent from an event of the run.
	Agent *agentObject `json:"agent,omitempty"`
	// The fields below are of events of an end.
	Status   string       `json:"status,omitempty"`
	Code     *int         `json:"code,omitempty"` // of a run
	Error    *errorObject `json:"error,omitempty"`
	Changed  *bool        `json:"changed,omitempty"`
	Verified *bool        `json:"verified,omitempty"`
	Usage    *task.Usage  `json:"usage,omitempty"`
}

// agentObject is the attempt of an event.
type agentObject struct {
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
	Label   string `json:"label,omitempty"`
	Item    string `json:"item,omitempty"`
	Name    string `json:"agent,omitempty"` // in the configuration
	Kind    string `json:"kind"`
	Model   string `json:"model,omitempty"`
	Role    string `json:"role,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Stage   string `json:"stage,omitempty"`
	Prompt  string `json:"prompt,omitempty"`
}

type errorObject struct {
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
}

// Error is a start that a hook refused, or whose hook failed.
type Error struct {
	Event  hook.Event
	Reason string
	Veto   bool // the hook refused
}

func (e *Error) Error() string {
	if e.Veto {
		return fmt.Sprintf("%s does not allow this: %s", e.Event, e.Reason)
	}
	return fmt.Sprintf("%s could not be asked: %s", e.Event, e.Reason)
}

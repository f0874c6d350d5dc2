package event

import "agentswarm/swarm/task"

// Continued says that an attempt continues the conversation of an earlier
// attempt of the same agent, in a workspace that holds the work of that.
type Continued struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	// Of is the attempt that keeps the conversation, Session its id.
	Of      int    `json:"of"`
	Session string `json:"session"`
	// Used is the usage of the conversation so far.
	Used task.Usage `json:"used,omitzero"`
	// From is the work that the workspace starts with; nil: the base.
	From *task.Patch `json:"from,omitempty"`
}

func (*Continued) kind() string { return "continued" }

package event

import "agentswarm/swarm/task"

// Switched is another model that the attempts of an agent use from now on.
type Switched struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"` // the last attempt with another model
	task.Choice
	Fallbacks int    `json:"fallbacks,omitempty"` // how many of its call were taken so far
	Slow      bool   `json:"slow,omitempty"`      // it is the model for after a failed second try
	Reason    string `json:"reason"`
}

func (*Switched) kind() string { return "switched" }

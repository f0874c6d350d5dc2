package event

import "agentswarm/swarm/task"

// Held says why an attempt waits, such as for a slot of its provider. The next
// event of the attempt ends it.
type Held struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Reason  string  `json:"reason"`
	// Step is the step that is held back: "verify" is the check. Absent: the agent
	// or its setup.
	Step string `json:"step,omitempty"`
}

func (*Held) kind() string { return "held" }

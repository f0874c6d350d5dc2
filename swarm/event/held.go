package event

import "agentswarm/swarm/task"

// Held says what an attempt waits for before it goes on, such as a slot of its
// provider. It ends with whatever the attempt does next.
type Held struct {
	Agent   task.ID `json:"agent"`
	Attempt int     `json:"attempt"`
	Reason  string  `json:"reason"`
	// Step is the step that is held back: "verify" is the check. Absent: the agent
	// or its setup.
	Step string `json:"step,omitempty"`
}

func (*Held) kind() string { return "held" }

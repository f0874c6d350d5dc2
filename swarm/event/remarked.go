package event

import "agentswarm/swarm/task"

// Remarked is a person's remark on an edit of an attempt. It is a draft until a
// [RetryAsked] of the agent names it.
type Remarked struct {
	ID      int          `json:"id"` // unique among the remarks on the agent, from 1
	Agent   task.ID      `json:"agent"`
	Attempt int          `json:"attempt"`
	Edit    task.EditKey `json:"edit"`
	// Line is the line of the file that the remark is about, and Quote the text
	// of the edit there; both are those of the attempt.
	Line  int      `json:"line,omitempty"`
	Quote []string `json:"quote,omitempty"`
	// Text is the remark; empty: the draft with this ID is withdrawn.
	Text string `json:"text,omitempty"`
}

func (*Remarked) kind() string { return "remarked" }

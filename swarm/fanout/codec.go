package fanout

import (
	"encoding/json"
	"fmt"

	"agentswarm/swarm/task"
)

// workflowJSON is a Workflow as it is recorded.
type workflowJSON struct {
	Prompt  string          `json:"prompt,omitempty"`
	Command []task.Verbatim `json:"command,omitempty"`
	Agent   string          `json:"agent,omitempty"`
	Each    []task.Verbatim `json:"each,omitempty"`
	Prefix  task.Verbatim   `json:"prefix,omitzero"`
	Count   int             `json:"count,omitempty"`
}

// MarshalJSON writes w without the loss of a byte.
func (w Workflow) MarshalJSON() ([]byte, error) {
	return json.Marshal(workflowJSON{
		Prompt: w.Prompt, Command: task.Verbatims(w.Command), Agent: w.Agent,
		Each: task.Verbatims(w.Each), Prefix: task.Verbatim(w.Prefix), Count: w.Count,
	})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (w *Workflow) UnmarshalJSON(text []byte) error {
	var j workflowJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("read a workflow: %w", err)
	}
	*w = Workflow{
		Prompt: j.Prompt, Command: task.Strings(j.Command), Agent: j.Agent,
		Each: task.Strings(j.Each), Prefix: string(j.Prefix), Count: j.Count,
	}
	return nil
}

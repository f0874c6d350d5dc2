package fanout

import (
	"encoding/json"
	"fmt"
	"time"

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
	Tasks   []Task          `json:"tasks,omitempty"`
	Source  string          `json:"source,omitempty"`
	Overlap OverlapMode     `json:"overlap,omitzero"`
	Options *task.Options   `json:"options,omitempty"`
}

// MarshalJSON writes w without the loss of a byte.
func (w Workflow) MarshalJSON() ([]byte, error) {
	var options *task.Options
	if w.Options.Any() {
		options = &w.Options
	}
	return json.Marshal(workflowJSON{
		Options: options,
		Prompt:  w.Prompt, Command: task.Verbatims(w.Command), Agent: w.Agent,
		Each: task.Verbatims(w.Each), Prefix: task.Verbatim(w.Prefix), Count: w.Count,
		Tasks: w.Tasks, Source: w.Source, Overlap: w.Overlap,
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
		Tasks: j.Tasks, Source: j.Source, Overlap: j.Overlap,
	}
	if j.Options != nil {
		w.Options = *j.Options
	}
	return nil
}

// taskJSON is a Task as it is recorded.
type taskJSON struct {
	Line      int             `json:"line"`
	ID        task.Verbatim   `json:"id,omitzero"`
	Prompt    string          `json:"prompt,omitempty"`
	Command   []string        `json:"command,omitempty"`
	Plain     bool            `json:"plain,omitempty"`
	Title     string          `json:"title,omitempty"`
	Ticket    json.RawMessage `json:"ticket,omitempty"`
	Agent     string          `json:"agent,omitempty"`
	Role      string          `json:"role,omitempty"`
	Paths     []string        `json:"paths,omitempty"`
	DependsOn []string        `json:"depends_on,omitempty"`
	Timeout   time.Duration   `json:"timeout_ns,omitempty"`
	Allow     []string        `json:"allow,omitempty"`
	task.Options
}

// MarshalJSON writes t without the loss of a byte. All but an item is UTF-8.
func (t Task) MarshalJSON() ([]byte, error) {
	return json.Marshal(taskJSON{
		t.Line, task.Verbatim(t.ID), t.Prompt, t.Command, t.Plain, t.Title, t.Ticket, t.Agent, t.Role, t.Paths, t.DependsOn, t.Timeout, t.Allow, t.Options,
	})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (t *Task) UnmarshalJSON(text []byte) error {
	var j taskJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("read a task: %w", err)
	}
	*t = Task{
		j.Line, string(j.ID), j.Prompt, j.Command, j.Plain, j.Title, j.Ticket, j.Agent, j.Role, j.Paths, j.DependsOn, j.Timeout, j.Allow, j.Options,
	}
	return nil
}

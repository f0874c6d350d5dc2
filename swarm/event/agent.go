package event

import (
	"encoding/json"

	"agentswarm/swarm/task"
)

// Session is an agent's report about itself at its start, and again once it has
// learned more: the model that really answers.
type Session struct {
	Protocol int      `json:"protocol,omitempty"`
	ID       string   `json:"id,omitempty"`
	Model    string   `json:"model,omitempty"`
	Can      []string `json:"can,omitempty"`
}

// Text is a part of an agent's messages.
type Text struct {
	Text string `json:"text"`
}

// ToolStart is an action an agent begins.
type ToolStart struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// ToolEnd is the result of a tool call.
type ToolEnd struct {
	ID     string          `json:"id,omitempty"`
	OK     bool            `json:"ok"`
	Output json.RawMessage `json:"output,omitempty"`
}

// Turn is a new turn of the model.
type Turn struct {
	N int `json:"n,omitempty"`
}

// Spent is usage that is added to the earlier reports.
type Spent struct {
	task.Usage
	// Sum is set if the cost, if there is any, covers all usage reported
	// without a cost since the last sum.
	Sum bool `json:"-"`
	// Left is the number of further requests that the provider allows within
	// about a minute, by its answer; 0: it did not report it.
	Left int `json:"-"`
}

// Asked is an action the agent wants to be allowed.
type Asked struct {
	ID     string          `json:"id"`
	Action json.RawMessage `json:"action,omitempty"`
}

// Answered is the agent's answer: the end of a good run.
type Answered struct {
	Text       string          `json:"text,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	// Joined is set if a part of the text may be there twice: its stream broke
	// and was joined with the repeated stream.
	Joined bool `json:"joined,omitempty"`
}

// Erred is an error the agent reports.
type Erred struct {
	Kind         task.ErrorKind `json:"kind"`
	Message      string         `json:"message,omitempty"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	// Quota is the window that is used up; nil if the error tells of none.
	Quota *Quota `json:"quota,omitempty"`
}

// Retry is a request that was refused or lost while the agent continues: it
// tries again by itself.
type Retry struct {
	Kind         task.ErrorKind `json:"kind"`
	Message      string         `json:"message,omitempty"`
	RetryAfterMS int64          `json:"retry_after_ms,omitempty"`
	// NextMS is about how long the agent waits, in milliseconds, where the
	// provider did not tell it; 0 is that this is not known.
	NextMS int64 `json:"next_ms,omitempty"`
	// Quota is that of [Erred].
	Quota *Quota `json:"quota,omitempty"`
}

// Raw is an event of a type we do not know, kept as it came.
type Raw struct {
	Line json.RawMessage `json:"line"`
}

func (*Session) kind() string   { return "session" }
func (*Text) kind() string      { return "text" }
func (*ToolStart) kind() string { return "tool_start" }
func (*ToolEnd) kind() string   { return "tool_end" }
func (*Turn) kind() string      { return "turn" }
func (*Spent) kind() string     { return "usage" }
func (*Asked) kind() string     { return "ask" }
func (*Answered) kind() string  { return "result" }
func (*Erred) kind() string     { return "error" }
func (*Retry) kind() string     { return "retry" }
func (*Raw) kind() string       { return "raw" }

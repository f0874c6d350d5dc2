package script

import (
	"context"
	"encoding/json"
)

// Host carries out the requests of a script. A single goroutine calls its
// methods in turn.
type Host interface {
	// Do answers a request at once, or refuses it with an [*Error]. It is given
	// a [*Call], [*Merge], [*Repo], [*PatchText], [*Evidence] or [*Nested].
	Do(context.Context, Request) (json.RawMessage, error)
	// Post takes the request of a number. A later delivery of that number
	// answers a [*Timer], [*Check], [*Land], [*Question] or [*Send]. A
	// [*Cancel], [*Untimer], [*Appraise], [*Choose], [*Log] or [*Phase] has no
	// answer. An [*Error] is thrown in the script; any other error ends the
	// script.
	Post(n int, r Request) error
	// Next waits for the next delivery. Its error ends the script.
	Next(context.Context) (Delivery, error)
}

// Delivery is a value that enters a script: the end of an agent, or the answer
// to the posted request N.
type Delivery struct {
	N      int             `json:"n,omitempty"`
	Result *Result         `json:"result,omitempty"` // of an agent; N is 0
	Value  json.RawMessage `json:"value,omitempty"`
	Error  *Error          `json:"error,omitempty"`
}

// Result is how an agent ended, as a script sees it.
type Result struct {
	ID     string `json:"id"`
	Status string `json:"status"` // completed, failed or cancelled
	Label  string `json:"label,omitempty"`
	Phase  string `json:"phase,omitempty"`
	// Output is the whole answer, and Structured the value asked for by a
	// schema. Only a completed agent has them.
	Output     *string         `json:"output,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Error      *Failure        `json:"error,omitempty"` // of any other
	Patch      *Patch          `json:"patch,omitempty"`
	Usage      *Usage          `json:"usage,omitempty"`
	// Verified says how the check of its work went; nil where none ran.
	Verified *bool `json:"verified,omitempty"`
	// Forkable is set where another agent can go on with its conversation.
	Forkable bool `json:"forkable,omitempty"`
}

// Failure is the reason that an agent did not complete. Kind is an error kind
// of package task.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Refused is set where the agent never began, since the budget is spent.
	Refused bool `json:"refused,omitempty"`
}

// Patch is the change of an agent. [*PatchText] asks for its text.
type Patch struct {
	ID    string   `json:"id"`   // the commit
	Base  string   `json:"base"` // the commit it is a change of
	Files []string `json:"files"`
	Stat  Stat     `json:"stat"`
}

// Stat is how large a patch is.
type Stat struct {
	Files   int `json:"files"`
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// Usage is the billed usage of an agent. Tokens are those a budget counts:
// output and reasoning.
type Usage struct {
	Input      int64   `json:"input"`
	Output     int64   `json:"output"`
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
	CostUSD    float64 `json:"costUsd"`
}

// Source is a script as it was given.
type Source struct {
	Name string `json:"name"` // how messages call it: a file name, or (code)
	Text string `json:"text"`
	Form Form   `json:"form,omitempty"`
}

// Start is the state that a script begins with.
type Start struct {
	Source Source          `json:"source"`         // required
	Args   json.RawMessage `json:"args,omitempty"` // absent: args is undefined
	Lib    []Source        `json:"lib,omitempty"`  // a project's own functions
	// BudgetTokens is the total of the run; 0 is none.
	BudgetTokens int64 `json:"budget_tokens,omitempty"`
	// Depth is the number of levels that workflow() may nest; 0 is a single
	// level.
	Depth int `json:"depth,omitempty"`
}

// Outcome is how a script ended: with Value, which is absent for undefined, or
// with Error.
type Outcome struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error *Error          `json:"error,omitempty"`
}

// Error is an error on its way into a script or out of it.
type Error struct {
	Name    string `json:"name"` // of the JavaScript class: Error, TypeError, …
	Code    Code   `json:"code,omitempty"`
	Message string `json:"message"`
	// Where is the position in the script: file:line:column; empty where it is
	// not known. Line is the text of that line.
	Where string `json:"where,omitempty"`
	Line  string `json:"line,omitempty"`
}

func (e *Error) Error() string {
	if e.Where != "" {
		return e.Where + ": " + e.Message
	}
	return e.Message
}

// Code is the kind of an error, for callers that act on it.
type Code string

// The codes of errors.
const (
	CodeSyntax  Code = "syntax"  // the text is no script: nothing was run
	CodeMeta    Code = "meta"    // its meta is none
	CodeOption  Code = "option"  // an argument or option that is not valid
	CodeUnknown Code = "unknown" // an id, name or type that there is none of
	CodeTimeout Code = "timeout" // join or ask waited long enough
	CodeBudget  Code = "budget"  // refused: the budget is spent
	CodeLimit   Code = "limit"   // refused: --max-agents, items of a call, depth
	CodeSchema  Code = "schema"  // no answer matched the schema
	CodePolicy  Code = "policy"  // not allowed here
	CodeStuck   Code = "stuck"   // it waits for an event that never comes
	CodeRunaway Code = "runaway" // too much memory, or too long without a word
)

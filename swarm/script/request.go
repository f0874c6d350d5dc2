package script

import (
	"encoding/json"
	"fmt"

	"agentswarm/swarm/task"
)

// Request is a request of a script to its host: [*Call], [*Cancel], [*Timer],
// [*Untimer], [*Check], [*Merge], [*Land], [*PatchText], [*Evidence],
// [*Appraise], [*Choose], [*Question], [*Send], [*Repo], [*Nested], [*Log] or
// [*Phase].
//
//sumtype:decl
type Request interface{ verb() string }

// Call starts an agent. The answer is {"id": "a1"}; its end is a delivery.
type Call struct {
	Prompt string `json:"prompt"` // required
	Spec
}

// Spec are the options of a call, as they were given and after their form was
// checked. The host decides on their meaning.
type Spec struct {
	Label      string          `json:"label,omitempty"`
	Phase      string          `json:"phase,omitempty"` // the current phase if none was given
	Schema     json.RawMessage `json:"schema,omitempty"`
	Agent      string          `json:"agent,omitempty"` // kind
	Role       string          `json:"role,omitempty"`
	Model      string          `json:"model,omitempty"`
	Effort     string          `json:"effort,omitempty"`
	Thinking   int64           `json:"maxThinkingTokens,omitempty"`
	Tools      []string        `json:"tools,omitempty"`           // entries of package toolset
	Without    []string        `json:"disallowedTools,omitempty"` // such entries
	ReadOnly   bool            `json:"readOnly,omitempty"`
	Fork       string          `json:"fork,omitempty"` // the id of a completed agent
	AgentType  string          `json:"agentType,omitempty"`
	Isolation  string          `json:"isolation,omitempty"` // worktree or shared
	Base       string          `json:"base,omitempty"`      // a tree of merge(), a commit or a patch
	Paths      []string        `json:"paths,omitempty"`
	Limits     Limits          `json:"limits,omitzero"`
	StopWhen   string          `json:"stopWhen,omitempty"` // the source of a function
	OnTool     string          `json:"onTool,omitempty"`   // the source of a function
	Allow      []string        `json:"allow,omitempty"`    // items, by the grammar of AGENTS.md
	Retries    *int            `json:"retries,omitempty"`
	Cache      *bool           `json:"cache,omitempty"`
	Identifier string          `json:"id,omitempty"`
	// Stage says which part of a pipeline the agent is; nil for none.
	Stage *task.Stage `json:"stage,omitempty"`
}

// Limits end an agent that reaches any of them; 0 is none.
type Limits struct {
	Turns  int     `json:"turns,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	MS     int64   `json:"ms,omitempty"`
	IdleMS int64   `json:"idleMs,omitempty"`
}

// Cancel ends an agent. That it has ended is a delivery of the agent's.
type Cancel struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	// Settled is set where the agent's end was delivered before: nothing is
	// to be done.
	Settled bool `json:"settled,omitempty"`
}

// Timer is delivered once after a time, unless its number is given back by
// [Untimer] before.
type Timer struct {
	MS int64 `json:"ms"`
	// For is the agent whose join it bounds.
	For string `json:"for,omitempty"`
}

// Untimer gives a timer back.
type Untimer struct {
	N int `json:"of"`
}

// Check runs a command on a tree. The answer is a [CheckResult].
type Check struct {
	Argv []string `json:"argv,omitempty"` // or
	Name string   `json:"name,omitempty"` // of a configured check
	On   string   `json:"on,omitempty"`   // a tree, a commit or a patch; empty: the base
	MS   int64    `json:"ms,omitempty"`   // 0: as configured
}

// CheckResult is how a check went.
type CheckResult struct {
	OK       bool   `json:"ok"`
	ExitCode int    `json:"exitCode"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
}

// Merge merges patches in memory. The answer is a [Merged].
type Merge struct {
	Patches []string `json:"patches"` // their ids
	Onto    string   `json:"onto,omitempty"`
}

// Merged is the result of a merge.
type Merged struct {
	Tree      string     `json:"tree"` // a base for further calls
	Applied   []string   `json:"applied"`
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is a patch that was left out.
type Conflict struct {
	Patch string   `json:"patch"`
	With  []string `json:"with"` // patches; empty: the tree it was merged onto
	Paths []string `json:"paths"`
}

// Land moves a branch to the merge of patches. The answer is a [Landing].
type Land struct {
	Patches []string `json:"patches"`
	Into    string   `json:"into,omitempty"`   // empty: the branch checked out
	Verify  string   `json:"verify,omitempty"` // the name of a configured check
}

// Landing is the result of a landing.
type Landing struct {
	Landed    bool       `json:"landed"`
	Ref       string     `json:"ref"`
	Commit    string     `json:"commit,omitempty"`
	Applied   []string   `json:"applied"`
	Conflicts []Conflict `json:"conflicts"`
	Verified  *bool      `json:"verified,omitempty"`
	Reason    string     `json:"reason,omitempty"` // why it did not land
}

// PatchText asks for a patch as text. The answer is a string.
type PatchText struct {
	ID string `json:"id"`
}

// Evidence asks for the harness's knowledge about the work of an ended agent.
// The answer is an object of text, files and steps.
type Evidence struct {
	ID string `json:"id"`
	// Since is the base of the changes: a tree, a commit or a patch; empty: the
	// agent's own base.
	Since string `json:"since,omitempty"`
}

// Appraise records the findings of a reviewer on the work of ended agents.
type Appraise struct {
	IDs      []string `json:"ids"`
	Pass     bool     `json:"pass"`
	By       string   `json:"by,omitempty"` // the reviewer
	Problems []string `json:"problems,omitempty"`
}

// Choose keeps the outcome of a race: ids of the agents of the branches that it
// took, and of those that it did not take.
type Choose struct {
	Won  []string `json:"won,omitempty"`
	Lost []string `json:"lost,omitempty"`
}

// Question asks a person. The answer is their text, or one of Choices if there
// are any.
type Question struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices,omitempty"`
	Default *string  `json:"default,omitempty"`
	MS      int64    `json:"ms,omitempty"` // 0: for ever
}

// Send sends a message to a running agent. The answer is {"delivered": true}.
type Send struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Repo asks about the base. The answer of files is a list of paths, of read a
// string, of grep a list of {path, line, text}, of log a list of
// {commit, author, date, subject, files}.
type Repo struct {
	Verb    string `json:"what"` // files, read, grep or log
	Glob    string `json:"glob,omitempty"`
	Path    string `json:"path,omitempty"`
	Pattern string `json:"pattern,omitempty"`
	Max     int    `json:"max,omitempty"`
}

// Nested asks for the text of a workflow that is called by another. The answer
// is a [Source].
type Nested struct {
	Name string `json:"name,omitempty"` // of a saved script, or
	Path string `json:"path,omitempty"` // of a file; relative to From
	From string `json:"from,omitempty"` // the name of the calling source
}

// Log is a line for people.
type Log struct {
	Text  string `json:"text"`
	Phase string `json:"phase,omitempty"`
}

// Phase begins a group of later agents.
type Phase struct {
	Title string `json:"title"`
}

func (*Call) verb() string      { return "call" }
func (*Cancel) verb() string    { return "cancel" }
func (*Timer) verb() string     { return "timer" }
func (*Untimer) verb() string   { return "untimer" }
func (*Check) verb() string     { return "check" }
func (*Merge) verb() string     { return "merge" }
func (*Land) verb() string      { return "land" }
func (*PatchText) verb() string { return "patch_text" }
func (*Evidence) verb() string  { return "evidence" }
func (*Appraise) verb() string  { return "appraise" }
func (*Choose) verb() string    { return "choose" }
func (*Question) verb() string  { return "question" }
func (*Send) verb() string      { return "send" }
func (*Repo) verb() string      { return "repo" }
func (*Nested) verb() string    { return "nested" }
func (*Log) verb() string       { return "log" }
func (*Phase) verb() string     { return "phase" }

// Verb is the word for a request in JSON.
func Verb(r Request) string { return r.verb() }

// Answered reports whether a posted request is answered by a delivery.
func Answered(r Request) bool {
	switch r.(type) {
	case *Timer, *Check, *Land, *Question, *Send:
		return true
	case *Call, *Cancel, *Untimer, *Merge, *PatchText, *Evidence, *Appraise, *Choose, *Repo, *Nested, *Log, *Phase:
		return false
	default:
		panic(fmt.Sprintf("unhandled %T", r))
	}
}

// blank is a new request of a verb; nil where there is none.
func blank(verb string) Request {
	for _, r := range []Request{
		&Call{}, &Cancel{}, &Timer{}, &Untimer{}, &Check{}, &Merge{}, &Land{},
		&PatchText{}, &Evidence{}, &Appraise{}, &Choose{}, &Question{}, &Send{}, &Repo{}, &Nested{}, &Log{}, &Phase{},
	} {
		if r.verb() == verb {
			return r
		}
	}
	return nil
}

// DecodeRequest reads a request of a verb.
func DecodeRequest(verb string, body json.RawMessage) (Request, error) {
	r := blank(verb)
	if r == nil {
		return nil, fmt.Errorf("unknown request %q", verb)
	}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("read a %s: %w", verb, err)
	}
	return r, nil
}

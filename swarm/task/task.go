// Package task owns the words a run is made of: calls, inputs, results,
// usage, ids and the kinds of errors, and how each is written as JSON.
//
// It owns no behaviour: the engine carries calls out, store keeps them, faces
// show them. Every union here is sealed, and its codec is in codec.go.
package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ID names an agent within its run: a1, a2, … in call order.
type ID string

// AgentID is the id of the n-th call of a run, from 1.
func AgentID(n int) ID { return ID("a" + strconv.Itoa(n)) }

// Number is the position of the id in call order, from 1; 0 where the text
// is no id of ours.
func (id ID) Number() int {
	digits, ok := strings.CutPrefix(string(id), "a")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || digits[0] == '0' || digits[0] == '+' {
		return 0
	}
	return n
}

// AttemptName is the name of an agent's attempt, as in its folders and its
// workspace: a7.2.
func AttemptName(id ID, attempt int) string { return fmt.Sprintf("%s.%d", id, attempt) }

// Call is a request to run an agent. It is journaled before anything is
// spawned.
type Call struct {
	// Key tells calls apart by their request; Occurrence counts the earlier
	// equal calls of this run, from 0.
	Key        string
	Occurrence int

	Input AgentInput // required
	// Agent is the name of a configured agent; empty for a command given
	// with the call.
	Agent string
	// Command is the argument list of such a command.
	Command []string

	Label string // the user's name for it; may be empty
	// Title is its name in lists if it has no label; empty: the first line of
	// its prompt.
	Title string
	// Item, Name, Index and Count say which of a list of items this is.
	// Index is from 1; all are empty outside a list.
	Item, Name   string
	Index, Count int
	// Group is set on calls that are alternatives of each other: of those with
	// the same group at most a single patch can land.
	Group string
	Phase string

	// Paths are globs, read from the top of the repository, for the paths that
	// the patch may touch; none allows everything.
	Paths []string
	// DependsOn are labels of earlier calls of the run. The agent starts from
	// their patches merged onto Base, and not at all if any of them has no
	// patch to build upon.
	DependsOn []string
	// After are labels of earlier calls that it waits for and starts from
	// where they did well, and does without where they did not.
	After []string
	// Timeout bounds the time of an attempt; 0 leaves that to its agent.
	Timeout time.Duration

	// Script is set on the calls of scripts. Their paths and limits are part of
	// their key, and they take completed agents before others.
	Script bool
	// Identity stands in for the prompt in the key; empty for none.
	Identity string
	// Uncached is set where no earlier result of the same key will do.
	Uncached bool
	// Schema is the JSON Schema of the answer; empty for none.
	Schema json.RawMessage
	// Shared is set where the agent works in the workspace that all such
	// calls of the run share.
	Shared bool
	// Limits end an attempt that reaches any of them.
	Limits Limits
	// StopWhen and OnTool are the sources of functions that watch over an
	// attempt; empty for none.
	StopWhen, OnTool string
	// Allow are items, by the grammar of AGENTS.md, for actions that the agent
	// may take without asking.
	Allow []string
	// Retries is the number of retries after a failure that may pass; nil
	// leaves that to the run.
	Retries *int
	// Options are the settings of the agent, over its configuration.
	Options
	// Stage is set on calls that are a stage of a pipeline; nil elsewhere.
	Stage *Stage
	// Ticket are the fields of the ticket that the prompt was made of, as a JSON
	// object; empty for none. It is data, and decides nothing about the call.
	Ticket json.RawMessage
	// SubjectOf is set on calls of swarm's own that ask how the commit of a patch
	// is to be called: it is that commit.
	SubjectOf string
	// Fallbacks are the models for its attempts, in order, if its model is not
	// available. Slow is the model after a failed second try; nil: the same as
	// before.
	Fallbacks []Choice
	Slow      *Choice

	// Base is the commit the workspace starts from, BaseTree its tree.
	Base, BaseTree string
}

// Using is a call whose attempt uses another model; nil is its own.
func (c *Call) Using(other *Choice) *Call {
	if other == nil {
		return c
	}
	used := *c
	used.Model, used.Effort = other.Model, other.Effort
	return &used
}

// Limits bound the usage of an attempt; 0 is any amount.
type Limits struct {
	Turns  int           `json:"turns,omitempty"`
	Tokens int64         `json:"tokens,omitempty"` // output and reasoning
	USD    float64       `json:"usd,omitempty"`
	Idle   time.Duration `json:"idle_ns,omitempty"`
}

// Stage is the part of an agent in a pipeline, with the other parts.
type Stage struct {
	Name   string   `json:"name"`             // an entry of Roster
	Roster []string `json:"roster,omitempty"` // all stages, in order
	// Words are the instructions for the stage.
	Words string `json:"words,omitempty"`
	// Reads is set if the stage only looks: changes by its agent are no work of
	// the run.
	Reads bool `json:"reads,omitempty"`
	// Brief is the text that is too long for its prompt: a file of its
	// workspace holds it while its agent works.
	Brief string `json:"brief,omitempty"`
}

// Sum computes the key of a call: a hash of everything that decides the agent's
// request. Names and positions that only people see stay out, so that the same
// work is known again.
func (c *Call) Sum() string {
	input := flattenInput(c.Input)
	if c.Identity != "" {
		input.Prompt = ""
	}
	text, err := json.Marshal(struct {
		Input   inputJSON
		Agent   string
		Command []string
		Item    string
		Tree    string
		// Absent where there is none, so that the keys of runs that an older
		// version began stay the same.
		DependsOn []string   `json:",omitempty"`
		After     []string   `json:",omitempty"`
		Script    *scriptSum `json:",omitempty"`
		Allow     []string   `json:",omitempty"`
		Options   *Options   `json:",omitempty"`
		Stage     *Stage     `json:",omitempty"`
		SubjectOf string     `json:",omitempty"`
	}{input, c.Agent, c.Command, c.Item, c.BaseTree, c.DependsOn, c.After, c.scriptSum(), c.Allow, c.Options.sum(), c.Stage, c.SubjectOf})
	if err != nil {
		panic(fmt.Sprintf("task: a call of strings does not marshal: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// scriptSum is the part of a key that only the calls of scripts have.
type scriptSum struct {
	Identity         string
	Schema           json.RawMessage
	Shared           bool
	Limits           Limits
	Timeout          time.Duration
	StopWhen, OnTool string
	Paths            []string
}

func (c *Call) scriptSum() *scriptSum {
	if !c.Script {
		return nil
	}
	return &scriptSum{
		c.Identity, c.Schema, c.Shared, c.Limits, c.Timeout, c.StopWhen, c.OnTool, c.Paths,
	}
}

// AgentInput is the input of an agent: [*TypedAgentInput] or [*ForkAgentInput].
//
//sumtype:decl
type AgentInput interface{ input() string }

// TypedAgentInput starts a new conversation.
type TypedAgentInput struct {
	Type   string // a named prompt; empty for none
	Role   string // empty is the default role
	Prompt string // empty only for a command that needs none
}

// ForkAgentInput continues the conversation of an agent that has ended.
type ForkAgentInput struct {
	Parent ID     // required
	Prompt string // required
}

func (*TypedAgentInput) input() string { return "typed" }
func (*ForkAgentInput) input() string  { return "fork" }

// Prompt is the text an input carries.
func Prompt(in AgentInput) string {
	switch in := in.(type) {
	case *TypedAgentInput:
		return in.Prompt
	case *ForkAgentInput:
		return in.Prompt
	default:
		panic(fmt.Sprintf("unhandled %T", in))
	}
}

// FirstLine is the first line of a text that is not blank, without the blanks
// around it.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// Status is the state of an agent: [*Running] or a [Result].
//
//sumtype:decl
type Status interface{ status() string }

// Result is the end of an agent: [*Completed], [*Failed] or [*Cancelled].
//
//sumtype:decl
type Result interface {
	Status
	// Done is the part that all results have.
	Done() *Work
}

// Running is an agent that has not ended.
type Running struct {
	State   State
	Attempt int       // 0 while queued
	Since   time.Time // when it entered the state
}

// Completed is an agent that succeeded by the rule of its kind.
type Completed struct {
	Work
	Answer string // at most [OutputLimit] bytes, the end of it
	// Structured is the answer to a call with a schema; absent where it is
	// longer than [OutputLimit].
	Structured json.RawMessage
	// Whole holds an answer that is longer than a result carries along; nil
	// where it is not.
	Whole *Whole
	// Verified says how the check of its work went; nil where none ran.
	Verified *bool
}

// Whole is a file with a whole answer: a JSON object of text and structured.
type Whole struct {
	File string `json:"file"`
	Sum  string `json:"sum"` // SHA-256 of the file, in hex
}

// Failed is an agent that ended without success.
type Failed struct {
	Work
	Kind   ErrorKind
	Reason string
}

// Cancelled is an agent that was not allowed to end by itself.
type Cancelled struct {
	Work
	Cause  ErrorKind // CauseCancelled, CauseStopped, CauseBudget or CauseDependency
	Reason string
}

func (*Running) status() string   { return "running" }
func (*Completed) status() string { return "completed" }
func (*Failed) status() string    { return "failed" }
func (*Cancelled) status() string { return "cancelled" }

// Word is the word for a status in JSON: a coarse state of an agent that has
// not ended, or how it ended. People see [Text].
func Word(s Status) string {
	if r, ok := s.(*Running); ok {
		return string(r.State.Coarse())
	}
	return s.status()
}

// Work is the work of an agent, whatever its result.
type Work struct {
	Attempts   int       `json:"attempts"`
	Patch      *Patch    `json:"patch,omitempty"`
	Usage      Usage     `json:"usage,omitzero"`
	Output     string    `json:"output,omitempty"`      // at most [OutputLimit] bytes
	OutputFile string    `json:"output_file,omitempty"` // the whole
	Started    time.Time `json:"started,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	Notes      []string  `json:"notes,omitempty"` // facts about the capture for a person
	// Ignored are new files that the base's rules ignore: not in the patch.
	Ignored []Ignored `json:"ignored,omitempty"`
	// IgnoredMore counts those beyond the list.
	IgnoredMore int `json:"ignored_more,omitempty"`
	// Large are new or changed files above the size limit: not in the patch.
	Large []Ignored `json:"large,omitempty"`
	// LargeMore counts those beyond the list.
	LargeMore int `json:"large_more,omitempty"`
	// Model is the model that answered, and Session the agent's id of the
	// conversation, as far as it reported them; Conversation is the usage of
	// the conversation, including earlier agents in it.
	Model        string `json:"model,omitempty"`
	Session      string `json:"session,omitempty"`
	Conversation Usage  `json:"conversation,omitzero"`
	// SessionAttempt is the attempt that keeps the files of the conversation,
	// if its model answered at least once; else 0.
	SessionAttempt int `json:"session_attempt,omitempty"`
	// Check is the file that holds the output of the check, if any ran, and
	// CheckCode its exit status.
	Check     string `json:"check,omitempty"`
	CheckCode int    `json:"check_code,omitempty"`
}

// Done returns w itself.
func (w *Work) Done() *Work { return w }

// OutputLimit bounds the text a result carries along, in bytes.
const OutputLimit = 8 << 10

// Patch is an agent's change from its base tree.
type Patch struct {
	Ref     string   `json:"ref"`
	Commit  string   `json:"commit"`
	Base    string   `json:"base"`
	File    string   `json:"file"`
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Paths   []string `json:"paths,omitempty"` // at most a hundred
	// OutOfScope are paths it touches that its call does not allow: the first
	// few of them.
	OutOfScope []string `json:"out_of_scope,omitempty"`
	// Replaced are submodules that it replaces by plain files: the first few.
	// Their folders are empty in a workspace, so that a single file written
	// there is enough.
	Replaced []string `json:"replaced,omitempty"`
	// Marked are paths it touches that control agents, git or continuous
	// integration, so that a person has to look at them: the first few.
	Marked []string `json:"marked,omitempty"`
	// Modules are the patches of submodules. They land with this patch.
	Modules []ModulePatch `json:"modules,omitempty"`
}

// Ignored is a file or folder that is not in the patch, with its size.
type Ignored struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// Usage is the paid use of a model.
type Usage struct {
	Input      int64   `json:"input,omitempty"`
	Output     int64   `json:"output,omitempty"`
	CacheRead  int64   `json:"cache_read,omitempty"`
	CacheWrite int64   `json:"cache_write,omitempty"`
	CostUSD    float64 `json:"cost_usd,omitempty"`
	// ComputedUSD is the unreported part of CostUSD: it was computed from
	// prices.
	ComputedUSD float64 `json:"computed_usd,omitempty"`
	// UnpricedTokens are those of all the above that CostUSD does not cover:
	// their price was unknown when they were used.
	UnpricedTokens int64 `json:"unpriced_tokens,omitempty"`
}

// Add adds v to u.
func (u *Usage) Add(v Usage) {
	u.Input = plus(u.Input, v.Input)
	u.Output = plus(u.Output, v.Output)
	u.CacheRead = plus(u.CacheRead, v.CacheRead)
	u.CacheWrite = plus(u.CacheWrite, v.CacheWrite)
	u.CostUSD = paid(u.CostUSD, v.CostUSD)
	u.ComputedUSD = paid(u.ComputedUSD, v.ComputedUSD)
	u.UnpricedTokens = plus(u.UnpricedTokens, v.UnpricedTokens)
}

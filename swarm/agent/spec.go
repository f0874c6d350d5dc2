package agent

import (
	"fmt"
	"strings"
	"time"

	"agentswarm/swarm/task"
)

// Spec is one agent as it was configured. It is recorded with the run, so a
// resume drives the same agent: values of Env that begin with a dollar sign
// are names, and only names are recorded.
type Spec struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Command is what is started: of a command all of it, of other kinds the
	// program, with arguments that come before any other.
	Command []string `json:"command"`

	// Model, Effort, Tools and ReadOnly are options of kinds that are no
	// command: what such an agent is to use. Empty leaves it to the agent.
	Model    string   `json:"model,omitempty"`
	Effort   string   `json:"effort,omitempty"`
	Tools    []string `json:"tools,omitempty"` // canonical entries that [Kind.Lists] allows
	ReadOnly bool     `json:"read_only,omitempty"`
	// Without are entries that it is not to have, where its kind can take single
	// tools away.
	Without []string `json:"without,omitempty"`
	// MaxThinking is how many tokens the model may think for each answer; 0 is
	// for the agent to say.
	MaxThinking int64 `json:"max_thinking,omitempty"`
	// Turns is how many turns of the model it may take; 0 is any number.
	Turns int `json:"turns,omitempty"`
	// Prior is what the conversation that it goes on with had used already,
	// for agents that count that again.
	Prior task.Usage `json:"prior,omitzero"`

	Input   Input   `json:"input"`
	Format  Format  `json:"format"`
	Success Success `json:"success"`

	// Env is added to the environment. A value that is exactly $NAME is taken
	// from the environment of the process that starts the agent.
	Env map[string]string `json:"env,omitempty"`

	// PTY runs the agent on a terminal of its own.
	PTY bool `json:"pty,omitempty"`

	// Write are the folders outside of its workspace that it may write to, with
	// what runs before and after it there. They are real paths.
	Write []string `json:"write,omitempty"`

	// Lane is what its requests share a limit with, over all runs: a provider
	// and a model, or whatever else tells apart who answers them. Empty: nobody
	// is held back.
	Lane string `json:"lane,omitempty"`

	Timeout     time.Duration `json:"timeout_ns,omitempty"`      // 0 is none
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 is none
}

// OnlyReads reports whether the agent is to change nothing, by a promise or by
// its tools.
func (s *Spec) OnlyReads() bool { return s.ReadOnly || len(s.Tools) > 0 && Reads(s.Tools) }

// CheckReads refuses tools that write of an agent that is read-only: none of
// what it was told is to be passed over.
func (s *Spec) CheckReads() error {
	if s.ReadOnly && !Reads(s.Tools) {
		return fmt.Errorf("tools %s: an agent that is read-only can have only %s", strings.Join(s.Tools, ","), strings.Join(ReadOnlyTools(), ","))
	}
	return nil
}

// Input is how an agent is given its prompt. The zero value is none of them.
type Input string

// The ways to give a prompt.
const (
	InputStdin Input = "stdin" // on stdin, then end of file
	InputArg   Input = "arg"   // in the command, as {prompt} or {prompt_file}
	InputNone  Input = "none"  // not at all
	InputJSONL Input = "jsonl" // as a message on a stdin that stays open
)

// Format is what an agent's stdout is. The zero value is none of them.
type Format string

// The formats of stdout.
const (
	FormatText  Format = "text"  // all of it is the answer
	FormatJSONL Format = "jsonl" // one event a line, see docs/agent-protocol.md
)

// Success is what counts as success. The zero value is none of them.
type Success string

// The kinds of success.
const (
	SuccessExit   Success = "exit"   // exit status 0
	SuccessAnswer Success = "answer" // exit status 0, a good last event, and an answer or a change
)

// Inline is the agent that a command given with the call is.
func Inline() *Spec {
	return &Spec{
		Name: KindCommand, Kind: KindCommand,
		Input: InputNone, Format: FormatText, Success: SuccessExit,
	}
}

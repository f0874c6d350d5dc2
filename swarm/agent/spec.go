package agent

import (
	"fmt"
	"strings"
	"time"

	"agentswarm/swarm/task"
)

// Spec is the configuration of one agent. It is recorded with the run, so a
// resume drives the same agent. Values of Env that begin with a dollar sign are
// names, and only names are recorded.
type Spec struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Command is the command to start: all of it for a command, and for other
	// kinds the program with its first arguments.
	Command []string `json:"command"`

	// Model, Effort, Tools and ReadOnly are options of kinds that are no
	// command. Empty leaves the choice to the agent.
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
	// Prior is the conversation's earlier usage, for agents that count it
	// again.
	Prior task.Usage `json:"prior,omitzero"`

	Input   Input   `json:"input"`
	Format  Format  `json:"format"`
	Success Success `json:"success"`

	// Env is added to the environment. A value that is exactly $NAME is taken
	// from the environment of the process that starts the agent.
	Env map[string]string `json:"env,omitempty"`

	// PTY runs the agent on a terminal of its own.
	PTY bool `json:"pty,omitempty"`

	// Write are the folders outside of its workspace that the agent and the
	// commands before and after it may write to. They are real paths.
	Write []string `json:"write,omitempty"`

	// Lane is the key of a shared request limit, over all runs: a provider and
	// a model, or another name of the server. Empty: no agent is held back.
	Lane string `json:"lane,omitempty"`

	Timeout     time.Duration `json:"timeout_ns,omitempty"`      // 0 is none
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"` // 0 is none
}

// OnlyReads reports whether the agent is to change nothing, by a promise or by
// its tools.
func (s *Spec) OnlyReads() bool { return s.ReadOnly || len(s.Tools) > 0 && Reads(s.Tools) }

// CheckReads returns an error if a read-only agent has tools that write: swarm
// ignores no option.
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

// Format is the format of an agent's stdout. The zero value is none of them.
type Format string

// The formats of stdout.
const (
	FormatText  Format = "text"  // all of it is the answer
	FormatJSONL Format = "jsonl" // one event a line, see docs/agent-protocol.md
)

// Success is the criterion of success. The zero value is none of them.
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

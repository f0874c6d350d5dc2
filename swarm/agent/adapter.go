package agent

import (
	"encoding/json"

	"agentswarm/swarm/event"
	"agentswarm/swarm/prompt"
)

// Adapter drives one kind of agent. It is pure: it describes the command to
// start and parses its output. It starts no process, waits for none and writes
// nothing.
type Adapter interface {
	// Launch says how the agent is started for a request.
	Launch(Request) (Launch, error)
	// Parser returns a parser for the output of an attempt.
	Parser(*Spec) Parser
}

// Request is the input of an attempt: the prompt, the answer's form and the
// place.
type Request struct {
	Spec   *Spec // required
	Prompt string
	// PromptFile holds the prompt, for agents that take it from a file.
	PromptFile string
	// Schema is the JSON schema of the answer, for agents that take a schema;
	// empty for none. Prompt contains it too.
	Schema json.RawMessage
	// Command replaces the command of the spec, for a call that brings its
	// own.
	Command []string

	// The fields below are for kinds that are no command.

	// System is said to the agent before anything else, after its own words.
	System string
	// Opening are the parts of that, for the built-in agent, which puts them
	// together itself.
	Opening *prompt.Parts
	// State is a folder for the agent alone, as it finds it. It is there.
	State string
	// Tmp is its folder for temporary files, as it finds it; empty: /tmp.
	Tmp string
	// Dir is the workspace, as the agent finds it: some keep conversations by
	// where they were had.
	Dir string
	// Hook is the command that asks before the agent acts, without a shell's
	// quotes; empty: no person can be asked.
	Hook []string
	// Walled is set where a sandbox is around the agent, so that a sandbox of
	// its own would only be in the way.
	Walled bool
	// Session is the id of the new conversation, a UUID, for agents that let
	// the caller choose it.
	Session string
	// Parent is the id of the conversation to continue, whose files are in
	// State already; empty: a new conversation.
	Parent string
	Login  Login
}

// Launch is how an agent is started.
type Launch struct {
	Argv []string
	// Env are variables as NAME=value, which win over any others; Unset are
	// names of some that the agent must not have.
	Env, Unset []string
	// Files are written into the state folder first.
	Files []File

	Stdin string // a file; empty for none
	// Open keeps stdin open. Feed is written to it at the start, Finish once
	// the answer is there; then it is closed.
	Open         bool
	Feed, Finish []byte
	// Respond is shown each event before any other reader. It returns a message
	// for the agent, such as its prompt once there is a conversation. last
	// closes stdin after the message. Nil: the agent gets no message.
	Respond func(event.Event) (message []byte, last bool)
	// Again asks for another answer in the same conversation. Nil: it cannot
	// be asked.
	Again func(text string) []byte
	// Reply encodes the answer to an action that the agent asked for. Steer
	// encodes a message to an agent that works. Nil: the agent takes no such
	// message.
	Reply func(Reply) []byte
	Steer func(text string) []byte
}

// Reply is the answer to an action an agent asked for.
type Reply struct {
	Ask    string // the agent's name for its question
	Allow  bool
	Text   string // more than yes or no; may be empty
	Reason string
}

// Parser reads an agent's stdout.
type Parser interface {
	// Feed takes the next bytes, cut anywhere, and returns the events that they
	// completed.
	Feed(p []byte) []event.Event
	// End is called once after the last byte.
	End() []event.Event
}

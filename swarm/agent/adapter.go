package agent

import (
	"encoding/json"

	"agentswarm/swarm/event"
	"agentswarm/swarm/prompt"
)

// Adapter drives one kind of agent. It is pure: it says what to start and
// reads what came back, and starts, waits for and writes nothing itself.
type Adapter interface {
	// Launch says how the agent is started for a request.
	Launch(Request) (Launch, error)
	// Parser reads the output of one attempt.
	Parser(*Spec) Parser
}

// Request is what an attempt asks of an agent.
type Request struct {
	Spec   *Spec // required
	Prompt string
	// PromptFile holds the prompt, for agents that take it from a file.
	PromptFile string
	// Schema is what the answer must match, for agents that can be told;
	// empty for none. Prompt says it too.
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
	// quotes; empty: nobody can be asked.
	Hook []string
	// Walled is set where walls stand around the agent, so that a sandbox of
	// its own would only be in the way.
	Walled bool
	// Session is the id that the conversation is to have where the agent lets
	// one choose: a UUID.
	Session string
	// Parent is the id of the conversation to go on with, whose files are in
	// State already; empty: a new one.
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
	// Respond is shown each event before anybody else, and returns what the agent
	// is told then, such as its prompt once there is a conversation, and whether
	// that is the last, so that stdin is closed. Nil: it is told nothing.
	Respond func(event.Event) (message []byte, last bool)
	// Again asks for another answer in the same conversation. Nil: it cannot
	// be asked.
	Again func(text string) []byte
	// Reply is what is written to answer an action the agent asked for, and
	// Steer to send it a word while it works. Nil: it cannot be told.
	Reply func(Reply) []byte
	Steer func(text string) []byte
}

// Reply is the answer to an action an agent asked for.
type Reply struct {
	Ask    string // what the agent calls its question
	Allow  bool
	Text   string // more than yes or no; may be empty
	Reason string
}

// Parser reads one agent's stdout.
type Parser interface {
	// Feed takes the next bytes, cut anywhere, and returns what they
	// completed.
	Feed(p []byte) []event.Event
	// End is called once after the last byte.
	End() []event.Event
}

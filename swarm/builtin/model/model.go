// Package model owns conversations with language models: their neutral types,
// the specs and providers that name a model, and requests by three APIs
// (OpenAI's Chat Completions and Responses, and Anthropic's Messages), with the
// wait for an answer.
//
// It runs no tools and keeps nothing: its caller acts on a reply.
package model

import (
	"context"
	"encoding/json"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Role is the sender of a message. Its zero value is no sender, which no API
// takes.
type Role string

// The roles. Results of tools are part of a message of the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is a message of a conversation.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is a piece of a message: [*Text], [*Note], [*Call], [*Result], [*Kept]
// or [*Thought].
//
//sumtype:decl
type Part interface{ part() string }

// Text is something said.
type Text struct{ Text string }

// Note is a text of the program to a model, beside people's texts, such as a
// summary of turns that are left out.
type Note struct{ Text string }

// Call is a tool that the model wants to have used. Input is always a JSON
// object.
type Call struct {
	ID, Name string
	Input    json.RawMessage
}

// Result is the result of a call.
type Result struct {
	ID   string // of the call
	Text string
	Bad  bool
}

// Kept is a part that an API gave and wants back unchanged, such as sealed
// reasoning. Other APIs do not get it.
type Kept struct {
	API  API
	JSON json.RawMessage
}

// Thought is the same of reasoning that can be read. It is never shown, and
// never written down.
type Thought struct {
	API  API
	JSON json.RawMessage
}

func (*Text) part() string   { return "text" }
func (*Note) part() string   { return "note" }
func (*Call) part() string   { return "call" }
func (*Result) part() string { return "result" }
func (*Kept) part() string   { return "kept" }

func (*Thought) part() string { return "thought" }

// NewMessage makes a message with a single text.
func NewMessage(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{&Text{text}}}
}

// Calls are the calls in a message.
func (m Message) Calls() []*Call {
	var all []*Call
	for _, p := range m.Parts {
		if c, ok := p.(*Call); ok {
			all = append(all, c)
		}
	}
	return all
}

// Said is the text of a message.
func (m Message) Said() string {
	text := ""
	for _, p := range m.Parts {
		if t, ok := p.(*Text); ok {
			text += t.Text
		}
	}
	return text
}

// Tool is a tool that a request offers.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of its input
}

// AnswerTool is the tool for the answer of a model that takes no schema for it.
const AnswerTool = "answer"

// Request is a request to a model.
type Request struct {
	// Shared is the part of the system prompt that many agents have in common,
	// Own the part after it. Either may be empty.
	Shared, Own string
	Tools       []Tool
	Messages    []Message // required; the last is the user's
	// Schema is the schema of the answer; empty: anything.
	Schema json.RawMessage
	// Frozen says that tools stay as they are. Else a fork's prefix would
	// differ from the prefix that its parent has paid for.
	Frozen bool
	// Must says that nothing but the answer is wanted now.
	Must bool
	// CacheKey is the same for requests with the same prefix.
	CacheKey string
	// Without are members that the server does not take, by Error.Untaken.
	Without []string
}

// without reports whether a member is to be left out.
func (r *Request) without(member string) bool { return slices.Contains(r.Without, member) }

// Stop is why a reply ended. Its zero value is an end that was not told.
type Stop string

// The reasons that make a difference.
const (
	Done   Stop = "done"
	Cut    Stop = "cut" // at the most that a reply may hold
	Denied Stop = "denied"
)

// Reply is an answer of a model.
type Reply struct {
	Message Message
	Usage   task.Usage
	Model   string // as the API calls it; empty: it did not say
	Stop    Stop
	// Left is how many more requests like this the endpoint allows within about a
	// minute, as it said; 0 where it did not.
	Left int
	// Windows are the quota windows whose use the endpoint tells.
	Windows []event.QuotaUsed
}

// Model answers requests.
type Model interface {
	// Ask asks, and calls say with each piece of text as it comes. Its errors
	// are *Error, or those of ctx.
	Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error)
}

// object is a tool's input as a model wrote it. Input that is no JSON object is
// put into an object, so that the conversation can be sent again.
func object(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("{}")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) == nil && members != nil {
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{Malformed: text})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

// Malformed is the only member of an input that was no JSON object.
const Malformed = "malformed_input"

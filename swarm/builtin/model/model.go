// Package model owns conversations with language models: the neutral types
// that one is kept in, the specs and providers by which a model is named, and
// what asks it by one of three APIs (OpenAI's Chat Completions and Responses,
// and Anthropic's Messages), with how long it is waited for.
//
// It runs no tools and keeps nothing: what is done with a reply is its
// caller's.
package model

import (
	"context"
	"encoding/json"
	"slices"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Role is who a message is from. Its zero value is nobody, which no API takes.
type Role string

// The roles. What tools gave back is part of a message of the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one of a conversation.
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

// Note is what the program says to a model beside what people do, such as a
// summary of turns that are left out.
type Note struct{ Text string }

// Call is a tool that the model wants to have used. Input is always a JSON
// object.
type Call struct {
	ID, Name string
	Input    json.RawMessage
}

// Result is what became of a call.
type Result struct {
	ID   string // of the call
	Text string
	Bad  bool
}

// Kept is what one API gave and wants back as it was, such as reasoning that
// nobody else can read. Other APIs are not sent it.
type Kept struct {
	API  API
	JSON json.RawMessage
}

// Thought is the same of reasoning that can be read. It is shown to nobody, and
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

// Say makes a message of one text.
func Say(role Role, text string) Message {
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

// Tool is one that is offered.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of its input
}

// AnswerTool is the tool by which a model that takes no schema for its answer
// gives one.
const AnswerTool = "answer"

// Request is what a model is asked.
type Request struct {
	// Shared is the part of the system prompt that many agents have in common,
	// Own what follows it. Either may be empty.
	Shared, Own string
	Tools       []Tool
	Messages    []Message // required; the last is the user's
	// Schema is what the answer must match; empty: anything.
	Schema json.RawMessage
	// Frozen says that tools are to be what they are: a fork's prefix would
	// not be the one that its parent has paid for.
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

// Reply is what a model said.
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

// object is a tool's input as a model wrote it. What is no JSON object is put
// into one, so that the conversation can be sent again.
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

// Malformed is the one member of an input that was no JSON object.
const Malformed = "malformed_input"

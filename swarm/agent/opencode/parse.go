package opencode

import (
	"bytes"
	"encoding/json"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/fault"
	"agentswarm/swarm/task"
	"agentswarm/swarm/thought"
	"agentswarm/swarm/wire"
)

var _ agent.Parser = (*stream)(nil)

// stream parses the output of one agent. No event marks the end: the last step,
// if it ended well, is the answer.
type stream struct {
	wire.Lines
	brief   bool
	model   string
	session string
	turns   int
	text    bytes.Buffer // the text of the step, each part without its thought
	ended   bool         // the last step ended well
}

func newStream(spec *agent.Spec) *stream {
	s := &stream{model: spec.Model}
	s.Lines = wire.Lines{Read: s.read, Cut: wire.Cut}
	return s
}

// Brief drops the input and output of tools.
func (s *stream) Brief() { s.brief = true }

// End reads the last line, and answers if the last step ended well.
func (s *stream) End() []event.Event {
	found := s.Lines.End()
	if s.ended {
		s.ended = false
		found = append(found, &event.Answered{Text: s.text.String()})
	}
	return found
}

// line is any line, as far as it is of interest.
type line struct {
	Type    string  `json:"type"`
	Session string  `json:"sessionID"`
	Part    part    `json:"part"`
	Error   failure `json:"error"`

	Message string  `json:"message"`
	Delay   float64 `json:"delayMs"` // before the next try
}

// part is a part of a message: a text, a tool or the end of a step.
type part struct {
	Text   string `json:"text"`
	Tool   string `json:"tool"`
	CallID string `json:"callID"`
	State  struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output"`
		Error  json.RawMessage `json:"error"`
	} `json:"state"`
	Reason string  `json:"reason"`
	Cost   float64 `json:"cost"`
	Tokens struct {
		Input     int64 `json:"input"`
		Output    int64 `json:"output"`
		Reasoning int64 `json:"reasoning"`
		Cache     struct {
			Read  int64 `json:"read"`
			Write int64 `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
}

// failure is an error.
type failure struct {
	Name string `json:"name"`
	Data struct {
		Message string `json:"message"`
		Status  int    `json:"statusCode"`
	} `json:"data"`
}

// read reads a line.
func (s *stream) read(text []byte) []event.Event {
	var l line
	if !wire.Decode(text, &l) || l.Type == "" {
		return wire.Foreign(text, s.brief)
	}
	var found []event.Event
	if l.Session != "" && s.session == "" {
		s.session = l.Session
		found = append(found, &event.Session{ID: l.Session, Model: s.model, Can: []string{"resume"}})
	}
	switch l.Type {
	case "step_start":
		s.ended = false
		s.text.Reset()
		s.turns++
		return append(found, &event.Turn{N: s.turns})
	case "text":
		if said := thought.Cut(l.Part.Text); s.text.Len()+len(said) <= wire.MaxLine {
			s.text.WriteString(said)
		}
		return append(found, &event.Text{Text: l.Part.Text})
	case "reasoning":
		return found
	case "tool_use":
		return append(found, s.tool(&l.Part)...)
	case "step_finish":
		return append(found, s.finished(&l.Part)...)
	case "retry":
		return append(found, &event.Retry{Kind: passing(l.Message), Message: l.Message, RetryAfterMS: int64(max(0, min(l.Delay, 1e12)))})
	case "error":
		s.ended = false
		return append(found, erred(&l.Error))
	default:
		return append(found, wire.Foreign(text, s.brief)...)
	}
}

// tool reads the use of a tool, which is reported once it has ended.
func (s *stream) tool(p *part) []event.Event {
	start := &event.ToolStart{ID: p.CallID, Name: p.Tool}
	end := &event.ToolEnd{ID: p.CallID, OK: p.State.Status == "completed"}
	if !s.brief {
		start.Input, end.Output = wire.Copy(p.State.Input), wire.Copy(p.State.Output)
		if len(p.State.Error) > 0 {
			end.Output = wire.Copy(p.State.Error)
		}
	}
	return []event.Event{start, end}
}

// finished is the end of a step, and of all if the model has no more to do.
func (s *stream) finished(p *part) []event.Event {
	var found []event.Event
	t := p.Tokens
	spent := task.Usage{
		Input: max(0, t.Input), Output: max(0, t.Output) + max(0, t.Reasoning),
		CacheRead: max(0, t.Cache.Read), CacheWrite: max(0, t.Cache.Write), CostUSD: max(0, p.Cost),
	}
	if spent != (task.Usage{}) {
		found = append(found, &event.Spent{Usage: spent})
	}
	switch p.Reason {
	case "stop":
		s.ended = true
	case "length":
		found = append(found, &event.Erred{Kind: task.Other, Message: "its answer is longer than the model may write"})
	case "content-filter":
		found = append(found, &event.Erred{Kind: task.Refused, Message: "a content filter of the provider ended the answer"})
	}
	return found
}

// erred is an error that opencode ends with.
func erred(f *failure) *event.Erred {
	text := f.Data.Message
	if text == "" {
		text = f.Name
	}
	switch f.Name {
	case "ProviderAuthError":
		return &event.Erred{Kind: task.Auth, Message: text}
	case "ContextOverflowError", "ForkError", "MessageOutputLengthError":
		return &event.Erred{Kind: task.Invalid, Message: text}
	case "RetryError":
		return &event.Erred{Kind: passing(text), Message: text}
	default:
		return &event.Erred{Kind: fault.Kind(f.Data.Status, text), Message: text}
	}
}

// passing is the kind of an error that opencode would try again after: where its
// words are not known, something is wrong with the provider.
func passing(text string) task.ErrorKind {
	kind := fault.Kind(0, text)
	if kind == task.Other {
		return task.Overloaded
	}
	return kind
}

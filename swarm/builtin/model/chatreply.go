package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/task"
	"agentswarm/swarm/thought"
)

// chatChunk is a piece of a reply, or a whole reply.
type chatChunk struct {
	Error json.RawMessage `json:"error"`
	Model string          `json:"model"`
	Usage struct {
		Input   count `json:"prompt_tokens"`
		Output  count `json:"completion_tokens"`
		Details struct {
			Cached count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Choices []chatChoice `json:"choices"`
}

type chatChoice struct {
	Index int64     `json:"index"`
	Delta chatDelta `json:"delta"`
	Stop  string    `json:"finish_reason"`
}

type chatDelta struct {
	Content   json.RawMessage `json:"content"` // a string, null, or a list of parts
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning_content"`
	Thinking  string          `json:"reasoning"` // the name for it elsewhere
	Calls     []chatPiece     `json:"tool_calls"`
}

// chatPiece is a part of a call. Any of its members may be missing.
type chatPiece struct {
	Index    *int64 `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string with JSON, or that itself
	} `json:"function"`
}

// chatReply puts a reply together.
type chatReply struct {
	say   func(string)
	reply Reply
	aloud thought.Stream
	text  strings.Builder
	// reasoning is the text that a server wants back beside the calls.
	reasoning strings.Builder
	calls     []*chatCall
	stop      string
	refused   bool
	ended     bool // nothing follows
}

type chatCall struct {
	index    *int64
	id, name string
	args     strings.Builder
}

func newChatReply(model string, say func(string)) *chatReply {
	return &chatReply{say: say, aloud: thought.Of(model)}
}

// add takes an event of the stream.
func (s *chatReply) add(e sseEvent) (over bool, err error) {
	if s.ended = e.done(); s.ended || len(bytes.TrimSpace(e.data)) == 0 {
		return s.ended, nil
	}
	var chunk chatChunk
	if err := decode(e.data, &chunk); err != nil {
		return false, err
	}
	if given(chunk.Error) {
		return false, answered{body: string(e.data)}.classify()
	}
	s.addChunk(&chunk)
	return false, nil
}

// finish returns the reply. Some servers never say why a reply ended, but each
// says that it has.
func (s *chatReply) finish() (*Reply, error) {
	if s.stop == "" && !s.ended {
		return nil, errCutShort
	}
	return s.whole(), nil
}

func (s *chatReply) addChunk(chunk *chatChunk) {
	if chunk.Model != "" {
		s.reply.Model = chunk.Model
	}
	if u := chunk.Usage; u.Input+u.Output > 0 {
		s.reply.Usage = disjoint(int64(u.Input), int64(u.Output), int64(u.Details.Cached))
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Delta.Reasoning+choice.Delta.Thinking != "" {
			s.aloud.Apart() // this server keeps thoughts apart
		}
		s.reasoning.WriteString(choice.Delta.Reasoning)
		s.refused = s.refused || choice.Delta.Refusal != ""
		s.send(s.aloud.Next(content(choice.Delta.Content)) + choice.Delta.Refusal)
		for _, piece := range choice.Delta.Calls {
			s.call(&piece).add(&piece)
		}
		if choice.Stop != "" {
			s.stop = choice.Stop
		}
	}
}

func (s *chatReply) send(text string) {
	s.text.WriteString(text)
	sendText(s.say, text)
}

// sendText passes a piece on unless it is empty.
func sendText(say func(string), text string) {
	if text != "" {
		say(text)
	}
}

// content is the text of a reply: a string, or the texts of a list whose other
// parts are thoughts.
func content(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &parts) // anything else is no text
	for _, p := range parts {
		if p.Type == "text" {
			text += p.Text
		}
	}
	return text
}

// call is the call that a piece belongs to. Some servers give each call the
// same index and its own id; some give neither, and each call in a single
// piece.
func (s *chatReply) call(p *chatPiece) *chatCall {
	for _, c := range slices.Backward(s.calls) {
		if c.has(p) {
			return c
		}
	}
	c := &chatCall{index: p.Index, id: p.ID}
	s.calls = append(s.calls, c)
	return c
}

func (c *chatCall) has(p *chatPiece) bool {
	switch same := p.Index == nil || c.index != nil && *p.Index == *c.index; {
	case p.ID != "":
		return same && p.ID == c.id
	case p.Function.Name != "":
		return same && !c.complete()
	default:
		return same
	}
}

// complete reports whether nothing can follow.
func (c *chatCall) complete() bool { return c.name != "" && json.Valid([]byte(c.args.String())) }

func (c *chatCall) add(p *chatPiece) {
	if name := p.Function.Name; c.args.Len() == 0 && name != c.name { // some say it with each piece
		c.name += name
	}
	c.args.WriteString(stringOrJSON(p.Function.Arguments))
}

// stringOrJSON returns the text of a JSON string, and any other JSON as it is.
// Some servers send an object in place of a string that holds an object.
func stringOrJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

func (s *chatReply) whole() *Reply {
	switch {
	case s.refused, s.stop == "content_filter":
		s.reply.Stop = Denied
	case s.stop == "length", s.stop == "max_tokens", s.stop == "model_length":
		s.reply.Stop = Cut
	default:
		s.reply.Stop = Done
	}
	s.send(s.aloud.End(s.reply.Stop == Cut))
	m := Message{Role: Assistant}
	if s.reasoning.Len() > 0 && len(s.calls) > 0 {
		m.Parts = append(m.Parts, &Thought{API: Chat, JSON: mustMarshal(s.reasoning.String())})
	}
	if text := thought.Cut(s.text.String()); text != "" {
		m.Parts = append(m.Parts, &Text{text})
	}
	ids := map[string]bool{}
	for i, c := range s.calls {
		if c.id == "" || ids[c.id] {
			c.id = fmt.Sprintf("call_%d", i+1)
		}
		ids[c.id] = true
		m.Parts = append(m.Parts, &Call{ID: c.id, Name: c.name, Input: object(c.args.String())})
	}
	s.reply.Message = m
	return &s.reply
}

// disjoint turns OpenAI's counts into counts that add up: OpenAI's input
// includes the cached tokens.
func disjoint(input, output, cached int64) task.Usage {
	cached = min(max(cached, 0), max(input, 0))
	return task.Usage{Input: max(input, 0) - cached, Output: max(output, 0), CacheRead: cached}
}

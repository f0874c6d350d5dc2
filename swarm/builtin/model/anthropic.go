package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agentswarm/swarm/task"
	"agentswarm/swarm/thought"
)

// anthropicModel asks by Anthropic's Messages API.
type anthropicModel struct{ at *Endpoint }

const (
	// defaultOutput is the most that a reply may hold if the model's own limit
	// is unknown: this API wants a number.
	defaultOutput = 8192
	// anthropicVersion is the version of the API that requests are written for.
	anthropicVersion = "2023-06-01"
)

// Ask sends a request and returns the reply, as Model says.
func (m *anthropicModel) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	c := call{path: "v1/messages", header: map[string]string{"Anthropic-Version": anthropicVersion}, body: m.request(r)}
	if m.at.Key != "" {
		c.header["X-Api-Key"] = m.at.Key
	}
	return m.at.send(ctx, c, &anthropicReply{say: say})
}

// anthropicRequest is the body of a request.
type anthropicRequest struct {
	MaxTokens    int64                `json:"max_tokens"`
	Messages     []anthropicMessage   `json:"messages,omitempty"`
	Model        string               `json:"model"`
	OutputConfig *anthropicOutput     `json:"output_config,omitempty"`
	System       []*anthropicText     `json:"system,omitempty"`
	Thinking     *anthropicThinking   `json:"thinking,omitempty"`
	ToolChoice   *anthropicToolChoice `json:"tool_choice,omitempty"`
	Tools        []anthropicTool      `json:"tools,omitempty"`
	Stream       bool                 `json:"stream"`
}

// anthropicMessage is a message of a request. Its blocks are *anthropicText,
// *anthropicToolUse, *anthropicToolResult, or JSON that the API gave.
type anthropicMessage struct {
	Content []any `json:"content,omitempty"`
	Role    Role  `json:"role"`
}

// cacheMark is embedded in blocks that can end a prefix which is to be cached.
type cacheMark struct {
	CacheControl *anthropicCache `json:"cache_control,omitempty"`
}

type anthropicCache struct {
	Type string `json:"type"`
}

func (m *cacheMark) mark() { m.CacheControl = &anthropicCache{"ephemeral"} }

type anthropicText struct {
	Text string `json:"text"`
	cacheMark
	Type string `json:"type"`
}

type anthropicToolUse struct {
	ID    string          `json:"id"`
	Input json.RawMessage `json:"input"`
	Name  string          `json:"name"`
	cacheMark
	Type string `json:"type"`
}

type anthropicToolResult struct {
	ToolUseID string `json:"tool_use_id"`
	IsError   bool   `json:"is_error"`
	cacheMark
	Content []*anthropicText `json:"content"`
	Type    string           `json:"type"`
}

type anthropicOutput struct {
	Effort string `json:"effort"`
}

type anthropicThinking struct {
	BudgetTokens int64  `json:"budget_tokens"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}

type anthropicToolChoice struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

type anthropicTool struct {
	InputSchema json.RawMessage `json:"input_schema"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
}

func (m *anthropicModel) request(r *Request) *anthropicRequest {
	p := &anthropicRequest{
		Model: m.at.Spec.Model, MaxTokens: cmp.Or(m.at.Facts.MaxOutput, defaultOutput), Stream: true,
	}
	if m.at.Spec.Effort != "" {
		p.OutputConfig = &anthropicOutput{m.at.Spec.Effort}
	}
	if m.at.Thinking > 0 && thinks(r.Messages) {
		p.Thinking = &anthropicThinking{BudgetTokens: m.at.Thinking, Type: "enabled"}
		if !r.without(thinkingDisplay) { // nobody is to read it: it comes encrypted only
			p.Thinking.Display = "omitted"
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, anthropicTool{t.Schema, t.Name, t.Description})
	}
	if len(r.Schema) > 0 && !r.Frozen {
		p.Tools = append(p.Tools, anthropicTool{
			InputSchema: r.Schema, Name: AnswerTool,
			Description: "Give your final answer. Call this once, when everything else is done, in place of a last message.",
		})
		// A model that thinks may not be made to use a tool.
		if r.Must && m.at.Thinking == 0 {
			p.ToolChoice = &anthropicToolChoice{Name: AnswerTool, Type: "tool"}
		}
	}
	if r.Shared != "" {
		p.System = append(p.System, newAnthropicText(r.Shared))
		p.System[0].mark()
	}
	if r.Own != "" {
		p.System = append(p.System, newAnthropicText(r.Own))
	}
	for _, message := range r.Messages {
		p.Messages = append(p.Messages, newAnthropicMessage(message))
	}
	p.markLast()
	return p
}

// markLast marks the last block, so that the next request finds all of this
// request in the cache.
func (p *anthropicRequest) markLast() {
	if len(p.Messages) == 0 {
		return
	}
	blocks := p.Messages[len(p.Messages)-1].Content
	if len(blocks) == 0 {
		return
	}
	if b, ok := blocks[len(blocks)-1].(interface{ mark() }); ok {
		b.mark()
	}
}

func newAnthropicText(text string) *anthropicText { return &anthropicText{Text: text, Type: "text"} }

// newAnthropicMessage returns a message as the API has it. Results come first:
// it takes nothing between a call and its result.
func newAnthropicMessage(m Message) anthropicMessage {
	var results, others []any
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			others = appendText(others, part.Text)
		case *Note:
			others = appendText(others, part.Text)
		case *Call:
			others = append(others, &anthropicToolUse{ID: part.ID, Input: part.Input, Name: part.Name, Type: "tool_use"})
		case *Result:
			results = append(results, &anthropicToolResult{
				ToolUseID: part.ID, IsError: part.Bad, Type: "tool_result",
				Content: []*anthropicText{newAnthropicText(cmp.Or(part.Text, "(nothing)"))},
			})
		case *Kept:
			if part.API == Anthropic {
				others = append(others, part.JSON)
			}
		case *Thought:
			if part.API == Anthropic {
				others = append(others, part.JSON)
			}
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
	return anthropicMessage{Role: m.Role, Content: append(results, others...)}
}

// appendText appends a block of text. The API would refuse an empty block.
func appendText(blocks []any, text string) []any {
	if text == "" {
		return blocks
	}
	return append(blocks, newAnthropicText(text))
}

// thinks reports whether a model can be asked to think. It cannot between a
// call whose thoughts are lost and the call's result.
func thinks(all []Message) bool {
	for _, m := range slices.Backward(all) {
		if m.Role != Assistant || len(m.Calls()) == 0 {
			continue
		}
		switch m.Parts[0].(type) {
		case *Kept, *Thought:
			return true
		default:
			return false
		}
	}
	return true
}

// anthropicEvent is an event of a stream. Which members it has follows from its
// type; the others are empty.
type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model      string           `json:"model"`
		Content    []anthropicBlock `json:"content"`
		StopReason string           `json:"stop_reason"`
		Usage      anthropicUsage   `json:"usage"`
	} `json:"message"`
	Index        int            `json:"index"`
	ContentBlock anthropicBlock `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
}

type anthropicUsage struct {
	Input      count `json:"input_tokens"`
	Output     count `json:"output_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
}

// anthropicBlock is a block of a reply: text, tool_use, thinking or
// redacted_thinking. Blocks of other types say nothing that is used.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of redacted thinking
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	partial   string          // the input, by deltas
}

// anthropicReply builds a reply from the events of a stream.
type anthropicReply struct {
	say    func(string)
	spoken thought.Stream
	model  string
	blocks []anthropicBlock
	stop   string
	usage  anthropicUsage
	ended  bool
}

// add takes an event. Types that are not known are skipped: the API says that
// there may be new ones. So are events without a name, which it never sends.
func (a *anthropicReply) add(e sseEvent) (over bool, err error) {
	switch {
	case e.name == "" || e.name == "ping" || len(e.data) == 0:
		return false, nil
	case e.name == "error":
		return false, answered{body: string(e.data)}.classify()
	}
	var w anthropicEvent
	if err := decode(e.data, &w); err != nil {
		return false, err
	}
	switch w.Type {
	case "message_start":
		a.model, a.blocks, a.stop, a.usage = w.Message.Model, w.Message.Content, w.Message.StopReason, w.Message.Usage
	case "content_block_start":
		if w.Index != len(a.blocks) {
			return false, fmt.Errorf("read the stream: block %d begins where block %d is due", w.Index, len(a.blocks))
		}
		a.blocks = append(a.blocks, w.ContentBlock)
	case "content_block_delta":
		return false, a.addDelta(&w)
	case "content_block_stop":
		sendText(a.say, a.spoken.End(false))
	case "message_delta":
		a.stop = w.Delta.StopReason
		if given(w.Usage) { // totals, without the counts that it sent at the start
			return false, decode(w.Usage, &a.usage)
		}
	case "message_stop":
		a.ended = true
	}
	return a.ended, nil
}

func (a *anthropicReply) addDelta(w *anthropicEvent) error {
	if w.Index < 0 || w.Index >= len(a.blocks) {
		return fmt.Errorf("read the stream: a piece of block %d of %d", w.Index, len(a.blocks))
	}
	switch b := &a.blocks[w.Index]; w.Delta.Type {
	case "text_delta":
		b.Text += w.Delta.Text
		sendText(a.say, a.spoken.Next(w.Delta.Text))
	case "input_json_delta":
		b.partial += w.Delta.PartialJSON
	case "thinking_delta":
		b.Thinking += w.Delta.Thinking
	case "signature_delta":
		b.Signature += w.Delta.Signature
	}
	return nil
}

func (a *anthropicReply) finish() (*Reply, error) {
	if !a.ended {
		return nil, errCutShort
	}
	u := a.usage
	r := &Reply{Model: a.model, Message: Message{Role: Assistant}, Stop: Done, Usage: task.Usage{
		Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite),
	}}
	for i := range a.blocks {
		if part := a.blocks[i].part(); part != nil {
			r.Message.Parts = append(r.Message.Parts, part)
		}
	}
	switch a.stop {
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = Cut
	case "refusal":
		r.Stop = Denied
	}
	return r, nil
}

// part returns a block as a part of a message; nil: it says nothing.
func (b *anthropicBlock) part() Part {
	switch b.Type {
	case "text":
		if text := thought.Cut(b.Text); text != "" {
			return &Text{text}
		}
	case "tool_use":
		return &Call{ID: b.ID, Name: b.Name, Input: b.input()}
	case "thinking":
		text := mustMarshal(struct {
			Type      string `json:"type"`
			Thinking  string `json:"thinking"`
			Signature string `json:"signature"`
		}{b.Type, b.Thinking, b.Signature})
		if b.Thinking != "" {
			return &Thought{API: Anthropic, JSON: text}
		}
		return &Kept{API: Anthropic, JSON: text}
	case "redacted_thinking":
		return &Kept{API: Anthropic, JSON: mustMarshal(struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{b.Type, b.Data})}
	}
	return nil
}

// input returns the input of a call. As a rule the start of a block has an
// empty object, and deltas have the input; some servers do the reverse.
func (b *anthropicBlock) input() json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(b.Input, &members) == nil && len(members) > 0 {
		return object(string(b.Input) + b.partial)
	}
	return object(b.partial)
}

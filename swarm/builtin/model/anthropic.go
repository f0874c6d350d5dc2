package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agentswarm/swarm/task"
	"agentswarm/swarm/thought"
)

// messages asks by Anthropic's Messages API.
type messages struct{ at *Endpoint }

// defaultOutput is the most that a reply may hold where nobody knows better:
// this API wants a number.
const defaultOutput = 8192

// Ask asks.
func (c *messages) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	x := &exchange{}
	inner, end := x.begin(ctx)
	defer end()
	options := []option.RequestOption{
		option.WithBaseURL(c.at.URL), option.WithMaxRetries(0), option.WithHTTPClient(client()), option.WithMiddleware(x.middleware),
	}
	if c.at.Key != "" {
		options = append(options, option.WithAPIKey(c.at.Key))
	}
	service := anthropic.NewMessageService(options...)
	stream := service.NewStreaming(inner, c.params(r))
	defer stream.Close()
	var whole anthropic.Message
	var aloud thought.Stream
	ended := false
	for stream.Next() {
		event := stream.Current()
		if err := whole.Accumulate(event); err != nil {
			return nil, x.wrong(inner, fmt.Errorf("read the stream: %w", err))
		}
		switch event.Type {
		case "content_block_delta":
			if event.Delta.Type == "text_delta" {
				tell(say, aloud.Next(event.Delta.Text))
			}
		case "content_block_stop":
			tell(say, aloud.End(false))
		case "message_stop":
			ended = true
		}
	}
	if err := stream.Err(); err != nil {
		var within *anthropic.Error
		if errors.As(err, &within) && x.refused.Load() == nil {
			err = answered{body: within.RawJSON()}.classify()
		}
		return nil, x.wrong(inner, err)
	}
	if !ended {
		return nil, x.wrong(inner, errCutShort)
	}
	return anthropicReply(&whole), nil
}

func anthropicReply(whole *anthropic.Message) *Reply {
	r := &Reply{Model: string(whole.Model), Message: Message{Role: Assistant}, Usage: task.Usage{
		Input: max(whole.Usage.InputTokens, 0), Output: max(whole.Usage.OutputTokens, 0),
		CacheRead: max(whole.Usage.CacheReadInputTokens, 0), CacheWrite: max(whole.Usage.CacheCreationInputTokens, 0),
	}}
	for i := range whole.Content {
		switch block := &whole.Content[i]; block.Type {
		case "text":
			if text := thought.Cut(block.Text); text != "" {
				r.Message.Parts = append(r.Message.Parts, &Text{text})
			}
		case "tool_use":
			r.Message.Parts = append(r.Message.Parts, &Call{ID: block.ID, Name: block.Name, Input: object(string(block.Input))})
		case "thinking", "redacted_thinking":
			r.Message.Parts = append(r.Message.Parts, keptThought(block))
		}
	}
	switch whole.StopReason {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		r.Stop = Cut
	case anthropic.StopReasonRefusal:
		r.Stop = Denied
	default:
		r.Stop = Done
	}
	return r
}

// keptThought is a block of thinking as it is sent back.
func keptThought(b *anthropic.ContentBlockUnion) Part {
	var v any = struct {
		Type      string `json:"type"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	}{b.Type, b.Thinking, b.Signature}
	if b.Type == "redacted_thinking" {
		v = struct {
			Type string `json:"type"`
			Data string `json:"data"`
		}{b.Type, b.Data}
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("model: a block of strings does not marshal: %v", err))
	}
	if b.Thinking != "" {
		return &Thought{API: Anthropic, JSON: text}
	}
	return &Kept{API: Anthropic, JSON: text}
}

// thinks reports whether a model can be asked to think: not between a call that
// it came to by thoughts which are gone, and what came of that.
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

func (c *messages) params(r *Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model:     anthropic.Model(c.at.Spec.Model),
		MaxTokens: cmp.Or(c.at.Facts.MaxOutput, defaultOutput),
	}
	if c.at.Spec.Effort != "" {
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(c.at.Spec.Effort)
	}
	if c.at.Thinking > 0 && thinks(r.Messages) {
		p.Thinking.OfEnabled = &anthropic.ThinkingConfigEnabledParam{BudgetTokens: c.at.Thinking}
		if !r.without(thinkingDisplay) { // nobody is to read it: it comes encrypted only
			p.Thinking.OfEnabled.Display = anthropic.ThinkingConfigEnabledDisplayOmitted
		}
	}
	tools := r.Tools
	if len(r.Schema) > 0 && !r.Frozen {
		tools = append(tools[:len(tools):len(tools)], Tool{
			Name: AnswerTool, Schema: r.Schema,
			Description: "Give your final answer. Call this once, when everything else is done, in place of a last message.",
		})
		// A model that thinks may not be made to use a tool.
		if r.Must && c.at.Thinking == 0 {
			p.ToolChoice = anthropic.ToolChoiceParamOfTool(AnswerTool)
		}
	}
	for _, t := range tools {
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: anthropic.String(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.Schema),
		}})
	}
	mark := anthropic.NewCacheControlEphemeralParam()
	if r.Shared != "" {
		p.System = append(p.System, anthropic.TextBlockParam{Text: r.Shared, CacheControl: mark})
	}
	if r.Own != "" {
		p.System = append(p.System, anthropic.TextBlockParam{Text: r.Own})
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, anthropicMessage(m))
	}
	if n := len(p.Messages); n > 0 {
		if blocks := p.Messages[n-1].Content; len(blocks) > 0 {
			if c := blocks[len(blocks)-1].GetCacheControl(); c != nil {
				*c = mark
			}
		}
	}
	return p
}

// anthropicMessage is a message as the API has it. Results come first: it
// takes nothing between a call and its result.
func anthropicMessage(m Message) anthropic.MessageParam {
	out := anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role)}
	var after []anthropic.ContentBlockParamUnion
	said := func(text string) {
		if text != "" { // an empty block is refused
			after = append(after, anthropic.NewTextBlock(text))
		}
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			said(part.Text)
		case *Note:
			said(part.Text)
		case *Call:
			after = append(after, anthropic.NewToolUseBlock(part.ID, part.Input, part.Name))
		case *Result:
			out.Content = append(out.Content, anthropic.NewToolResultBlock(part.ID, cmp.Or(part.Text, "(nothing)"), part.Bad))
		case *Kept:
			if part.API == Anthropic {
				after = append(after, param.Override[anthropic.ContentBlockParamUnion](part.JSON))
			}
		case *Thought:
			if part.API == Anthropic {
				after = append(after, param.Override[anthropic.ContentBlockParamUnion](part.JSON))
			}
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
	out.Content = append(out.Content, after...)
	return out
}

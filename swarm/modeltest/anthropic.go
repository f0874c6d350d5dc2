package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// anthropic speaks Anthropic's Messages.
type anthropic struct{}

type anthropicRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	System   json.RawMessage   `json:"system"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Output   struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type anthropicMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type anthropicBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
}

func (anthropic) read(_ *url.URL, body []byte) (*conversation, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	if len(in.Messages) == 0 {
		return nil, fmt.Errorf("messages: at least one message is required")
	}
	c := &conversation{
		model: in.Model, stream: in.Stream, system: strings.Join(texts(in.System), "\n"), schema: in.Output.Format.Schema,
		prompt: prompt(append([]json.RawMessage{in.Tools, in.System}, in.Messages...)...),
	}
	c.uncached = !strings.Contains(string(body), `"cache_control"`)
	var tools []struct {
		Name   string `json:"name"`
		Schema shape  `json:"input_schema"`
	}
	if in.Tools != nil {
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return nil, fmt.Errorf("messages: tools: %w", err)
		}
	}
	for _, t := range tools {
		c.tools = append(c.tools, offer{name: t.Name, schema: t.Schema})
	}
	for _, m := range in.Messages {
		if err := c.addAnthropic(m); err != nil {
			return nil, fmt.Errorf("messages: %w", err)
		}
	}
	return c, nil
}

func (c *conversation) addAnthropic(raw json.RawMessage) error {
	var m anthropicMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	by := byUser
	switch m.Role {
	case "assistant":
		by = byModel
	case "system": // claude says there where it works
		c.system += "\n" + strings.Join(texts(m.Content), "\n")
		return nil
	}
	var blocks []anthropicBlock
	if json.Unmarshal(m.Content, &blocks) != nil {
		c.append(by, texts(m.Content)...)
		return nil
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			c.append(by, b.Text)
		case "tool_use":
			c.said = append(c.said, said{by: byCall, tool: b.Name})
		case "tool_result":
			c.said = append(c.said, said{by: byResult, text: strings.Join(texts(b.Content), "\n")})
		}
	}
	return nil
}

func (anthropic) usage(u Usage) map[string]any {
	return map[string]any{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_creation_input_tokens": u.CacheWrite, "cache_read_input_tokens": u.CacheRead,
	}
}

func (anthropic) stop(s Stop) string {
	switch s {
	case StopCalls:
		return "tool_use"
	case StopLength:
		return "max_tokens"
	case StopRefuse:
		return "refusal"
	case StopEnd:
		return "end_turn"
	default:
		panic("unhandled " + s)
	}
}

func (anthropic) blocks(a *answer) []any {
	blocks := []any{}
	if a.thinking != "" {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": a.thinking, "signature": "c2NyaXB0"})
	}
	if text := a.words(); text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	for i, c := range a.calls {
		blocks = append(blocks, map[string]any{
			"type": "tool_use", "id": a.callID("toolu_", i), "name": c.name, "input": json.RawMessage(c.args),
		})
	}
	return blocks
}

func (d anthropic) whole(a *answer) any {
	return map[string]any{
		"id": a.id("msg_"), "type": "message", "role": "assistant", "model": a.model, "content": d.blocks(a),
		"stop_reason": d.stop(a.stop), "stop_sequence": nil, "usage": d.usage(a.usage),
	}
}

func (d anthropic) stream(s *stream, _ *conversation, a *answer) {
	begun := a.usage
	begun.Output = 1
	s.send("message_start", map[string]any{"type": "message_start", "message": map[string]any{
		"id": a.id("msg_"), "type": "message", "role": "assistant", "model": a.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": d.usage(begun),
	}})
	s.send("ping", map[string]any{"type": "ping"})
	at := 0
	block := func(begin map[string]any, deltas ...map[string]any) {
		s.send("content_block_start", map[string]any{"type": "content_block_start", "index": at, "content_block": begin})
		for _, delta := range deltas {
			s.piece("content_block_delta", map[string]any{"type": "content_block_delta", "index": at, "delta": delta})
		}
		s.send("content_block_stop", map[string]any{"type": "content_block_stop", "index": at})
		at++
	}
	if a.thinking != "" {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": a.thinking},
			map[string]any{"type": "signature_delta", "signature": "c2NyaXB0"})
	}
	if len(a.text) > 0 {
		var deltas []map[string]any
		for _, piece := range a.text {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for i, c := range a.calls {
		var deltas []map[string]any
		for _, piece := range halves(c.args) {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": piece})
		}
		block(map[string]any{"type": "tool_use", "id": a.callID("toolu_", i), "name": c.name, "input": map[string]any{}}, deltas...)
	}
	s.send("message_delta", map[string]any{
		"type": "message_delta", "usage": d.usage(a.usage),
		"delta": map[string]any{"stop_reason": d.stop(a.stop), "stop_sequence": nil},
	})
	s.send("message_stop", map[string]any{"type": "message_stop"})
}

func (anthropic) fault(f fault, _ *stream) (string, any) {
	kind := "api_error"
	switch f.status {
	case http.StatusBadRequest:
		kind = "invalid_request_error"
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusForbidden:
		kind = "permission_error"
	case http.StatusNotFound:
		kind = "not_found_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case overloaded:
		kind = "overloaded_error"
	}
	return "error", map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": f.message}}
}

package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// chat speaks OpenAI's Chat Completions.
type chat struct{}

type chatRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Format struct {
		Type   string `json:"type"`
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (chat) read(_ *url.URL, body []byte) (*conversation, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	if len(in.Messages) == 0 {
		return nil, errors.New("chat: messages are empty")
	}
	c := &conversation{
		model: in.Model, stream: in.Stream, counted: in.Options.Usage, schema: in.Format.Schema.Schema,
		prompt: prompt(append([]json.RawMessage{in.Tools}, in.Messages...)...),
	}
	var tools []struct {
		Function struct {
			Name   string `json:"name"`
			Schema shape  `json:"parameters"`
		} `json:"function"`
	}
	if in.Tools != nil {
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return nil, fmt.Errorf("chat: tools: %w", err)
		}
	}
	for _, t := range tools {
		c.tools = append(c.tools, offer{name: t.Function.Name, schema: t.Function.Schema})
	}
	for _, raw := range in.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("chat: messages: %w", err)
		}
		c.addChat(m)
	}
	return c, nil
}

func (c *conversation) addChat(m chatMessage) {
	words := texts(m.Content)
	switch m.Role {
	case "system", "developer":
		c.system += strings.Join(words, "\n") + "\n"
	case "user":
		c.append(byUser, words...)
	case "assistant":
		c.append(byModel, words...)
		for _, call := range m.Calls {
			c.said = append(c.said, said{by: byCall, tool: call.Function.Name})
		}
	case "tool":
		c.said = append(c.said, said{by: byResult, text: strings.Join(words, "\n")})
	}
}

// usage counts the cached tokens among those of the prompt.
func (chat) usage(u Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead},
		"completion_tokens_details": map[string]any{"reasoning_tokens": 0},
	}
}

func (chat) stop(s Stop) string {
	switch s {
	case StopCalls:
		return "tool_calls"
	case StopLength:
		return "length"
	case StopRefuse:
		return "content_filter"
	case StopEnd:
		return "stop"
	default:
		panic("unhandled " + s)
	}
}

func (chat) call(a *answer, i int) map[string]any {
	return map[string]any{
		"index": i, "id": a.callID("call_", i), "type": "function",
		"function": map[string]any{"name": a.calls[i].name, "arguments": a.calls[i].args},
	}
}

func (d chat) whole(a *answer) any {
	message := map[string]any{"role": "assistant", "content": nil}
	if text := a.words(); text != "" {
		message["content"] = text
	}
	if a.thinking != "" {
		message["reasoning_content"] = a.thinking
	}
	var calls []any
	for i := range a.calls {
		calls = append(calls, d.call(a, i))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return map[string]any{
		"id": a.id("chatcmpl-"), "object": "chat.completion", "created": 1767225600, "model": a.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": d.stop(a.stop)}},
		"usage":   d.usage(a.usage),
	}
}

func (d chat) stream(s *stream, c *conversation, a *answer) {
	chunk := func(delta map[string]any, finish any) map[string]any {
		return map[string]any{
			"id": a.id("chatcmpl-"), "object": "chat.completion.chunk", "created": 1767225600, "model": a.model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		}
	}
	s.send("", chunk(map[string]any{"role": "assistant", "content": ""}, nil))
	if a.thinking != "" {
		s.piece("", chunk(map[string]any{"reasoning_content": a.thinking}, nil))
	}
	for _, piece := range a.text {
		s.piece("", chunk(map[string]any{"content": piece}, nil))
	}
	for i, one := range a.calls {
		begin := d.call(a, i)
		begin["function"] = map[string]any{"name": one.name, "arguments": ""}
		s.send("", chunk(map[string]any{"tool_calls": []any{begin}}, nil))
		for _, piece := range halves(one.args) {
			s.piece("", chunk(map[string]any{"tool_calls": []any{
				map[string]any{"index": i, "function": map[string]any{"arguments": piece}},
			}}, nil))
		}
	}
	s.send("", chunk(map[string]any{}, d.stop(a.stop)))
	if c.counted {
		last := chunk(nil, nil)
		last["choices"], last["usage"] = []any{}, d.usage(a.usage)
		s.send("", last)
	}
	if !s.over {
		s.raw("", []byte("[DONE]"))
	}
}

func (chat) fault(f fault, _ *stream) (string, any) { return "", openaiFault(f) }

// openaiFault is an error of both of OpenAI's APIs.
func openaiFault(f fault) any {
	kind, code := "server_error", any(nil)
	switch {
	case f.quota:
		kind, code = "insufficient_quota", "insufficient_quota"
	case f.status == http.StatusBadRequest, f.status == http.StatusForbidden, f.status == http.StatusNotFound:
		kind = "invalid_request_error"
	case f.status == http.StatusUnauthorized:
		kind, code = "invalid_request_error", "invalid_api_key"
	case f.status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	}
	return map[string]any{"error": map[string]any{"message": f.message, "type": kind, "param": nil, "code": code}}
}

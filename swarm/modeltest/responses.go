package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// responses speaks OpenAI's Responses.
type responses struct{}

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        json.RawMessage `json:"tools"`
	Text         struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

type responsesItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Name    string          `json:"name"`
	Output  json.RawMessage `json:"output"`
	Tools   json.RawMessage `json:"tools"`
}

func (responses) read(_ *url.URL, body []byte) (*conversation, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("responses: %w", err)
	}
	c := &conversation{model: in.Model, stream: in.Stream, system: in.Instructions, schema: in.Text.Format.Schema}
	if err := c.offerResponses(in.Tools, ""); err != nil {
		return nil, fmt.Errorf("responses: tools: %w", err)
	}
	var raw []json.RawMessage
	if json.Unmarshal(in.Input, &raw) != nil {
		raw = nil
		c.append(byUser, texts(in.Input)...)
	}
	for _, r := range raw {
		var item responsesItem
		if err := json.Unmarshal(r, &item); err != nil {
			return nil, fmt.Errorf("responses: input: %w", err)
		}
		if err := c.addResponses(item); err != nil {
			return nil, fmt.Errorf("responses: input: %w", err)
		}
	}
	c.prompt = prompt(append([]json.RawMessage{in.Tools, json.RawMessage(in.Instructions)}, raw...)...)
	return c, nil
}

// offerResponses adds tools, and those of a namespace among them.
func (c *conversation) offerResponses(raw json.RawMessage, space string) error {
	if raw == nil {
		return nil
	}
	var tools []struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Schema shape           `json:"parameters"`
		Tools  json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		return err
	}
	for _, t := range tools {
		switch {
		case t.Type == "namespace":
			if err := c.offerResponses(t.Tools, t.Name); err != nil {
				return err
			}
		case t.Name != "":
			c.tools = append(c.tools, offer{name: t.Name, space: space, free: t.Type == "custom", schema: t.Schema})
		}
	}
	return nil
}

func (c *conversation) addResponses(item responsesItem) error {
	switch item.Type {
	case "", "message":
		words := texts(item.Content)
		switch item.Role {
		case "system", "developer":
			c.system += "\n" + strings.Join(words, "\n")
		case "user":
			c.append(byUser, words...)
		default:
			c.append(byModel, words...)
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		c.said = append(c.said, said{by: byCall, tool: item.Name})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.said = append(c.said, said{by: byResult, text: strings.Join(texts(item.Output), "\n")})
	case "additional_tools":
		return c.offerResponses(item.Tools, "")
	}
	return nil
}

// usage counts the cached tokens among those of the input.
func (responses) usage(u Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"input_tokens": input, "output_tokens": u.Output, "total_tokens": input + u.Output,
		"input_tokens_details":  map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": map[string]any{"reasoning_tokens": 0},
	}
}

// items are the output, each as it is at its end.
func (responses) items(a *answer) []map[string]any {
	items := []map[string]any{}
	if a.thinking != "" {
		items = append(items, map[string]any{
			"id": a.id("rs_"), "type": "reasoning",
			"summary": []any{map[string]any{"type": "summary_text", "text": a.thinking}},
		})
	}
	if text := a.words(); text != "" {
		items = append(items, map[string]any{
			"id": a.id("msg_"), "type": "message", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		})
	}
	for i, c := range a.calls {
		item := map[string]any{
			"id": a.callID("fc_", i), "type": "function_call", "call_id": a.callID("call_", i), "name": c.name,
			"arguments": c.args, "status": "completed",
		}
		if c.free {
			delete(item, "arguments")
			item["id"], item["type"], item["input"] = a.callID("ctc_", i), "custom_tool_call", c.args
		}
		if c.space != "" {
			item["namespace"] = c.space
		}
		items = append(items, item)
	}
	return items
}

func (d responses) response(a *answer, status string) map[string]any {
	return map[string]any{
		"id": a.id("resp_"), "object": "response", "created_at": 1767225600, "model": a.model, "status": status,
		"output": []any{}, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": map[string]any{},
		"parallel_tool_calls": true, "temperature": 1, "tool_choice": "auto", "tools": []any{}, "top_p": 1, "usage": nil,
	}
}

// ended is the response at its end, and the name of the event that brings it.
func (d responses) ended(a *answer) (string, map[string]any) {
	is, event := d.response(a, "completed"), "response.completed"
	switch a.stop {
	case StopLength:
		event, is["status"], is["incomplete_details"] = "response.incomplete", "incomplete", map[string]any{"reason": "max_output_tokens"}
	case StopRefuse:
		event, is["status"], is["incomplete_details"] = "response.incomplete", "incomplete", map[string]any{"reason": "content_filter"}
	case StopEnd, StopCalls:
	default:
		panic("unhandled " + a.stop)
	}
	is["output"], is["usage"] = d.items(a), d.usage(a.usage)
	return event, is
}

func (d responses) whole(a *answer) any {
	_, is := d.ended(a)
	return is
}

func (responses) fault(f fault, s *stream) (string, any) {
	if s == nil {
		return "", openaiFault(f)
	}
	code := "server_error"
	switch {
	case f.quota:
		code = "insufficient_quota"
	case f.status == http.StatusTooManyRequests:
		code = "rate_limit_exceeded"
	case f.status == overloaded, f.status == http.StatusServiceUnavailable:
		code = "server_is_overloaded"
	case f.status == http.StatusBadRequest:
		code = "invalid_prompt"
	}
	return "response.failed", map[string]any{"type": "response.failed", "sequence_number": s.sent, "response": map[string]any{
		"id": "resp_failed", "object": "response", "status": "failed", "output": []any{}, "usage": nil,
		"error": map[string]any{"code": code, "message": f.message},
	}}
}

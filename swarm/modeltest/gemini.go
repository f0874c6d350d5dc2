package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// gemini speaks Google's generateContent.
type gemini struct{}

type geminiRequest struct {
	System struct {
		Parts json.RawMessage `json:"parts"`
	} `json:"systemInstruction"`
	Contents []json.RawMessage `json:"contents"`
	Tools    json.RawMessage   `json:"tools"`
	Config   struct {
		Schema     json.RawMessage `json:"responseSchema"`
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text    string `json:"text"`
		Thought bool   `json:"thought"`
		Call    *struct {
			Name string `json:"name"`
		} `json:"functionCall"`
		Result *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (gemini) read(at *url.URL, body []byte) (*conversation, error) {
	var in geminiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("contents: %w", err)
	}
	if len(in.Contents) == 0 {
		return nil, errors.New("contents are empty")
	}
	model, method, _ := strings.Cut(path.Base(at.Path), ":")
	c := &conversation{
		model: model, stream: method == "streamGenerateContent", system: strings.Join(texts(in.System.Parts), "\n"),
		schema: in.Config.Schema,
		prompt: prompt(append([]json.RawMessage{in.Tools, in.System.Parts}, in.Contents...)...),
	}
	if c.schema == nil {
		c.schema = in.Config.JSONSchema
	}
	if err := c.offerGemini(in.Tools); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	for _, raw := range in.Contents {
		var content geminiContent
		if err := json.Unmarshal(raw, &content); err != nil {
			return nil, fmt.Errorf("contents: %w", err)
		}
		c.addGemini(content)
	}
	return c, nil
}

func (c *conversation) offerGemini(raw json.RawMessage) error {
	if raw == nil {
		return nil
	}
	var tools []struct {
		Functions []struct {
			Name       string `json:"name"`
			Schema     shape  `json:"parameters"`
			JSONSchema *shape `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	}
	if err := json.Unmarshal(raw, &tools); err != nil {
		return err
	}
	for _, t := range tools {
		for _, f := range t.Functions {
			o := offer{name: f.Name, schema: f.Schema}
			if f.JSONSchema != nil {
				o.schema = *f.JSONSchema
			}
			c.tools = append(c.tools, o)
		}
	}
	return nil
}

func (c *conversation) addGemini(content geminiContent) {
	by := byUser
	if content.Role == "model" {
		by = byModel
	}
	for _, p := range content.Parts {
		switch {
		case p.Call != nil:
			c.said = append(c.said, said{by: byCall, tool: p.Call.Name})
		case p.Result != nil:
			c.said = append(c.said, said{by: byResult, text: string(p.Result.Response)})
		case !p.Thought:
			c.append(by, p.Text)
		}
	}
}

// usage counts the cached tokens among those of the prompt.
func (gemini) usage(u Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	is := map[string]any{
		"promptTokenCount": input, "candidatesTokenCount": u.Output, "totalTokenCount": input + u.Output,
	}
	if u.CacheRead > 0 {
		is["cachedContentTokenCount"] = u.CacheRead
	}
	return is
}

func (gemini) stop(s Stop) string {
	switch s {
	case StopLength:
		return "MAX_TOKENS"
	case StopRefuse:
		return "SAFETY"
	case StopEnd, StopCalls:
		return "STOP"
	default:
		panic("unhandled " + s)
	}
}

func (gemini) parts(a *answer) []any {
	parts := []any{}
	if a.thinking != "" {
		parts = append(parts, map[string]any{"text": a.thinking, "thought": true})
	}
	for _, piece := range a.text {
		parts = append(parts, map[string]any{"text": piece})
	}
	for i, c := range a.calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{
			"id": a.callID("call_", i), "name": c.name, "args": json.RawMessage(c.args),
		}})
	}
	return parts
}

func (d gemini) chunk(a *answer, parts []any) map[string]any {
	return map[string]any{
		"candidates": []any{map[string]any{
			"index": 0, "content": map[string]any{"role": "model", "parts": parts},
		}},
		"usageMetadata": d.usage(a.usage), "modelVersion": a.model, "responseId": a.id("resp_"),
	}
}

func (d gemini) finished(a *answer, parts []any) map[string]any {
	is := d.chunk(a, parts)
	is["candidates"] = []any{map[string]any{
		"index": 0, "content": map[string]any{"role": "model", "parts": parts}, "finishReason": d.stop(a.stop),
	}}
	return is
}

func (d gemini) whole(a *answer) any { return d.finished(a, d.parts(a)) }

func (d gemini) stream(s *stream, _ *conversation, a *answer) {
	parts := d.parts(a)
	for i, part := range parts {
		if i == len(parts)-1 && s.end == nil {
			s.piece("", d.finished(a, []any{part}))
			return
		}
		s.piece("", d.chunk(a, []any{part}))
	}
	s.send("", d.finished(a, []any{map[string]any{"text": ""}}))
}

func (gemini) fault(f fault, _ *stream) (string, any) {
	status := "INTERNAL"
	switch f.status {
	case http.StatusBadRequest:
		status = "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		status = "UNAUTHENTICATED"
	case http.StatusForbidden:
		status = "PERMISSION_DENIED"
	case http.StatusNotFound:
		status = "NOT_FOUND"
	case http.StatusTooManyRequests:
		status = "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable, overloaded:
		status = "UNAVAILABLE"
	}
	is := map[string]any{"code": f.status, "message": f.message, "status": status}
	details := []any{}
	if f.quota {
		details = append(details, map[string]any{
			"@type":      "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []any{map[string]any{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}},
		})
	}
	if f.after > 0 {
		details = append(details, map[string]any{
			"@type":      "type.googleapis.com/google.rpc.RetryInfo",
			"retryDelay": fmt.Sprintf("%ds", (f.after+time.Second-1)/time.Second),
		})
	}
	if len(details) > 0 {
		is["details"] = details
	}
	return "", map[string]any{"error": is}
}

package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentswarm/swarm/provider"
	"agentswarm/swarm/schema"
)

// chatModel asks by OpenAI's Chat Completions, which many servers speak.
type chatModel struct{ at *Endpoint }

// Ask sends a request and returns the reply, as Model says.
func (m *chatModel) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	body, err := m.request(r)
	if err != nil {
		return nil, err
	}
	c := call{path: "chat/completions", header: m.at.bearer(), body: body}
	return m.at.send(ctx, c, newChatReply(m.at.Spec.Model, say))
}

// chatRequest is the body of a request.
type chatRequest struct {
	Messages            []chatMessage      `json:"messages,omitempty"`
	Model               string             `json:"model"`
	MaxCompletionTokens int64              `json:"max_completion_tokens,omitempty"`
	MaxTokens           int64              `json:"max_tokens,omitempty"` // the older name of the same
	PromptCacheKey      string             `json:"prompt_cache_key,omitempty"`
	ReasoningEffort     string             `json:"reasoning_effort,omitempty"`
	StreamOptions       *chatStreamOptions `json:"stream_options,omitempty"`
	ResponseFormat      *chatFormat        `json:"response_format,omitempty"`
	Tools               []chatTool         `json:"tools,omitempty"`
	Stream              bool               `json:"stream"`
}

// chatMessage is a message of a request, by any role.
type chatMessage struct {
	Content          *string         `json:"content,omitempty"` // nil: calls alone
	ToolCalls        []chatToolCall  `json:"tool_calls,omitempty"`
	ToolCallID       *string         `json:"tool_call_id,omitempty"` // of a tool's result
	Role             string          `json:"role"`
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
}

type chatToolCall struct {
	ID       string       `json:"id"`
	Function chatFunction `json:"function"`
	Type     string       `json:"type"`
}

type chatFunction struct {
	Arguments string `json:"arguments"`
	Name      string `json:"name"`
}

type chatStreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatFormat struct {
	JSONSchema chatSchema `json:"json_schema"`
	Type       string     `json:"type"`
}

type chatSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type chatTool struct {
	Function chatToolFunction `json:"function"`
	Type     string           `json:"type"`
}

type chatToolFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters,omitzero"`
}

func (m *chatModel) request(r *Request) (*chatRequest, error) {
	p := &chatRequest{Model: m.at.Spec.Model, ReasoningEffort: m.at.Spec.Effort, Stream: true}
	if !r.without(streamOptions) {
		p.StreamOptions = &chatStreamOptions{IncludeUsage: true}
	}
	if provider.Hosted(m.at.URL) {
		p.PromptCacheKey = r.CacheKey // others may not know it
	}
	if r.without(maxCompletionTokens) {
		p.MaxTokens = max(m.at.Facts.MaxOutput, 0)
	} else {
		p.MaxCompletionTokens = max(m.at.Facts.MaxOutput, 0)
	}
	for _, t := range r.Tools {
		parameters, err := t.parameters()
		if err != nil {
			return nil, err
		}
		p.Tools = append(p.Tools, chatTool{Function: chatToolFunction{t.Name, t.Description, parameters}, Type: "function"})
	}
	if m.sendsSchema(r) {
		p.ResponseFormat = &chatFormat{
			JSONSchema: chatSchema{Name: AnswerTool, Strict: schema.Strict(r.Schema), Schema: r.Schema}, Type: "json_schema",
		}
	}
	if text := system(r); text != "" {
		p.Messages = append(p.Messages, chatMessage{Content: &text, Role: "system"})
	}
	for _, message := range r.Messages {
		p.add(message, r)
	}
	return p, nil
}

// parameters returns the schema of a tool's input with its keys in the order of
// the alphabet.
func (t Tool) parameters() (map[string]any, error) {
	var members map[string]any
	if err := json.Unmarshal(t.Schema, &members); err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return members, nil
}

// sendsSchema reports whether the request has the schema of the answer. Many
// servers that hold a model to a schema let it call no tools. These get the
// schema once only the answer is left. The prompt describes the answer in
// words.
func (m *chatModel) sendsSchema(r *Request) bool {
	return len(r.Schema) > 0 && !r.without(responseFormat) && (r.Must || len(r.Tools) == 0 || provider.Hosted(m.at.URL))
}

// system is the whole system prompt, the shared part first.
func system(r *Request) string {
	return strings.Trim(r.Shared+"\n\n"+r.Own, "\n")
}

// add appends a message in the API's form. Each result is a message of its own.
// Texts of the user in a row become a single message, since the templates of
// many models only take turns.
func (p *chatRequest) add(m Message, r *Request) {
	if m.Role == Assistant {
		p.Messages = append(p.Messages, newChatAssistant(m, r))
		return
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			p.addUser(part.Text)
		case *Note:
			p.addUser(part.Text)
		case *Result:
			p.Messages = append(p.Messages, chatMessage{Content: &part.Text, ToolCallID: &part.ID, Role: "tool"})
		case *Call, *Kept, *Thought: // a model's own
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
}

func (p *chatRequest) addUser(text string) {
	if n := len(p.Messages); n > 0 && p.Messages[n-1].Role == string(User) {
		text = *p.Messages[n-1].Content + "\n\n" + text
		p.Messages = p.Messages[:n-1]
	}
	p.Messages = append(p.Messages, chatMessage{Content: &text, Role: string(User)})
}

func newChatAssistant(m Message, r *Request) chatMessage {
	a := chatMessage{Role: string(Assistant)}
	if text := m.Said(); text != "" {
		a.Content = &text
	}
	for _, c := range m.Calls() {
		a.ToolCalls = append(a.ToolCalls, chatToolCall{ID: c.ID, Function: chatFunction{string(c.Input), c.Name}, Type: "function"})
	}
	for _, p := range m.Parts {
		if t, ok := p.(*Thought); ok && t.API == Chat && !r.without(reasoningContent) {
			a.ReasoningContent = t.JSON
		}
	}
	return a
}

package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"agentswarm/swarm/provider"
	"agentswarm/swarm/task"
)

// chat asks by Chat Completions.
type chat struct{ at *Endpoint }

// openaiOptions are those of both APIs of OpenAI. The SDK's own retries are
// off: a wait is ours to tell.
func openaiOptions(e *Endpoint, x *exchange) []option.RequestOption {
	all := []option.RequestOption{
		option.WithBaseURL(e.URL), option.WithMaxRetries(0), option.WithHTTPClient(client()), option.WithMiddleware(x.middleware),
	}
	if e.Key != "" {
		all = append(all, option.WithAPIKey(e.Key))
	}
	return all
}

// Ask asks.
func (c *chat) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	params, err := c.params(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{}
	inner, end := x.begin(ctx)
	defer end()
	service := openai.NewChatCompletionService(openaiOptions(c.at, x)...)
	stream := service.NewStreaming(inner, params)
	defer stream.Close()
	said := &chatReply{say: say}
	for stream.Next() {
		chunk := stream.Current()
		said.add(&chunk)
	}
	if err := stream.Err(); err != nil {
		return nil, x.wrong(inner, streamed(err))
	}
	if said.stop == "" && said.reply.Message.Said() == "" && len(said.calls) == 0 {
		return nil, x.wrong(inner, errCutShort)
	}
	if said.stop == "" {
		return nil, x.wrong(inner, errCutShort)
	}
	return said.whole(), nil
}

// streamed finds an error of the provider within its stream.
func streamed(err error) error {
	var within *ssestream.StreamError
	if errors.As(err, &within) {
		return answered{body: string(within.Event.Data)}.classify()
	}
	return err
}

func (c *chat) params(r *Request) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{
		Model:         c.at.Spec.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if r.CacheKey != "" && provider.Hosted(c.at.URL) {
		p.PromptCacheKey = openai.String(r.CacheKey) // others may not know it
	}
	if c.at.Spec.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(c.at.Spec.Effort)
	}
	if c.at.Facts.MaxOutput > 0 {
		p.MaxCompletionTokens = openai.Int(c.at.Facts.MaxOutput)
	}
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: schema,
		}))
	}
	if len(r.Schema) > 0 {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: AnswerTool, Schema: r.Schema, Strict: openai.Bool(strict(r.Schema)),
			},
		}
	}
	if text := system(r); text != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(text))
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, chatMessages(m)...)
	}
	return p, nil
}

// system is the whole of the system prompt: what is shared comes first.
func system(r *Request) string {
	return strings.Trim(r.Shared+"\n\n"+r.Own, "\n")
}

// chatMessages are a message as the API has it: each result is one of its own.
func chatMessages(m Message) []openai.ChatCompletionMessageParamUnion {
	var all []openai.ChatCompletionMessageParamUnion
	if m.Role == Assistant {
		a := &openai.ChatCompletionAssistantMessageParam{}
		if text := m.Said(); text != "" {
			a.Content.OfString = openai.String(text)
		}
		for _, c := range m.Calls() {
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: c.Name, Arguments: string(c.Input),
					},
				},
			})
		}
		return append(all, openai.ChatCompletionMessageParamUnion{OfAssistant: a})
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			all = append(all, openai.UserMessage(part.Text))
		case *Note:
			all = append(all, openai.UserMessage(part.Text))
		case *Result:
			all = append(all, openai.ToolMessage(part.Text, part.ID))
		case *Call, *Kept: // a model's own
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
	return all
}

// chatReply puts a reply together.
type chatReply struct {
	say   func(string)
	reply Reply
	text  strings.Builder
	calls []*chatCall
	stop  string
}

type chatCall struct {
	index    int64
	id, name string
	args     strings.Builder
}

func (s *chatReply) add(chunk *openai.ChatCompletionChunk) {
	if chunk.Model != "" {
		s.reply.Model = chunk.Model
	}
	if u := chunk.Usage; u.PromptTokens+u.CompletionTokens > 0 {
		s.reply.Usage = disjoint(u.PromptTokens, u.CompletionTokens, u.PromptTokensDetails.CachedTokens)
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if text := choice.Delta.Content + choice.Delta.Refusal; text != "" {
			s.text.WriteString(text)
			s.say(text)
		}
		for _, d := range choice.Delta.ToolCalls {
			c := s.call(d.Index, d.ID)
			c.name += d.Function.Name
			c.args.WriteString(d.Function.Arguments)
		}
		if choice.FinishReason != "" {
			s.stop = choice.FinishReason
		}
	}
}

// call is the one that a piece belongs to. Some servers give each the same
// index, and each its own id.
func (s *chatReply) call(index int64, id string) *chatCall {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if c := s.calls[i]; c.index == index && (id == "" || c.id == id) {
			return c
		}
	}
	c := &chatCall{index: index, id: id}
	s.calls = append(s.calls, c)
	return c
}

func (s *chatReply) whole() *Reply {
	m := Message{Role: Assistant}
	if s.text.Len() > 0 {
		m.Parts = append(m.Parts, &Text{s.text.String()})
	}
	for i, c := range s.calls {
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d", i+1)
		}
		m.Parts = append(m.Parts, &Call{ID: c.id, Name: c.name, Input: object(c.args.String())})
	}
	s.reply.Message = m
	switch s.stop {
	case "length":
		s.reply.Stop = Cut
	case "content_filter":
		s.reply.Stop = Denied
	default:
		s.reply.Stop = Done
	}
	return &s.reply
}

// disjoint makes of OpenAI's counts, of which the input holds what was cached,
// ones that add up.
func disjoint(input, output, cached int64) task.Usage {
	cached = min(max(cached, 0), max(input, 0))
	return task.Usage{Input: max(input, 0) - cached, Output: max(output, 0), CacheRead: cached}
}

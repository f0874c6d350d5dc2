package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"agentswarm/swarm/provider"
	"agentswarm/swarm/schema"
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
	var raw *http.Response
	client := &openai.Client{} // one that is made by the SDK would take keys from the environment
	if err := client.Post(inner, "chat/completions", params, &raw, append(openaiOptions(c.at, x), option.WithJSONSet("stream", true))...); err != nil {
		return nil, x.wrong(inner, err)
	}
	stream := ssestream.NewDecoder(raw)
	defer stream.Close()
	said := newChatReply(c.at.Spec.Model, say)
	for !said.ended && stream.Next() {
		if err := said.take(stream.Event().Data); err != nil {
			return nil, x.wrong(inner, err)
		}
	}
	if err := stream.Err(); err != nil {
		return nil, x.wrong(inner, err)
	}
	// Some servers never say why a reply ended, but each says that it has.
	if said.stop == "" && !said.ended {
		return nil, x.wrong(inner, errCutShort)
	}
	return said.whole(), nil
}

func (c *chat) params(r *Request) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{
		Model: c.at.Spec.Model,
	}
	if !r.without(streamOptions) {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if r.CacheKey != "" && provider.Hosted(c.at.URL) {
		p.PromptCacheKey = openai.String(r.CacheKey) // others may not know it
	}
	if c.at.Spec.Effort != "" {
		p.ReasoningEffort = shared.ReasoningEffort(c.at.Spec.Effort)
	}
	switch most := c.at.Facts.MaxOutput; {
	case most > 0 && r.without(maxCompletionTokens):
		p.MaxTokens = openai.Int(most) // its older name
	case most > 0:
		p.MaxCompletionTokens = openai.Int(most)
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
	if c.formed(r) {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: AnswerTool, Schema: r.Schema, Strict: openai.Bool(schema.Strict(r.Schema)),
			},
		}
	}
	if text := system(r); text != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(text))
	}
	var said chatMessages
	for _, m := range r.Messages {
		said.add(m, r)
	}
	p.Messages = append(p.Messages, said...)
	return p, nil
}

// formed reports whether a schema goes along. A server that writes by one calls
// no tools, as far as it is not known to do both: there it goes along once there
// is nothing left to do but answer. What the answer must be its model is told
// in words too.
func (c *chat) formed(r *Request) bool {
	return len(r.Schema) > 0 && !r.without(responseFormat) && (r.Must || len(r.Tools) == 0 || provider.Hosted(c.at.URL))
}

// system is the whole of the system prompt: what is shared comes first.
func system(r *Request) string {
	return strings.Trim(r.Shared+"\n\n"+r.Own, "\n")
}

// chatMessages are a conversation as the API has it: each result is a message of
// its own, and what the user says in a row is one, as the templates of many
// models take turns only.
type chatMessages []openai.ChatCompletionMessageParamUnion

func (all *chatMessages) add(m Message, r *Request) {
	if m.Role == Assistant {
		*all = append(*all, openai.ChatCompletionMessageParamUnion{OfAssistant: chatAssistant(m, r)})
		return
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			all.say(part.Text)
		case *Note:
			all.say(part.Text)
		case *Result:
			*all = append(*all, openai.ToolMessage(part.Text, part.ID))
		case *Call, *Kept, *Thought: // a model's own
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
}

func (all *chatMessages) say(text string) {
	if n := len(*all); n > 0 && (*all)[n-1].OfUser != nil {
		before := &(*all)[n-1].OfUser.Content.OfString
		*before = openai.String(before.Value + "\n\n" + text)
		return
	}
	*all = append(*all, openai.UserMessage(text))
}

func chatAssistant(m Message, r *Request) *openai.ChatCompletionAssistantMessageParam {
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
	for _, p := range m.Parts {
		if t, ok := p.(*Thought); ok && t.API == Chat && !r.without(reasoningContent) {
			a.SetExtraFields(map[string]any{reasoningContent: t.JSON})
		}
	}
	return a
}

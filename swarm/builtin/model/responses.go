package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"agentswarm/swarm/schema"
	"agentswarm/swarm/thought"
)

// responder asks by the Responses API. Nothing is stored there: the
// conversation is ours, and reasoning comes encrypted to be sent back.
type responder struct{ at *Endpoint }

// Ask asks.
func (c *responder) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	params, err := c.params(r)
	if err != nil {
		return nil, err
	}
	x := &exchange{}
	inner, end := x.begin(ctx)
	defer end()
	service := responses.NewResponseService(openaiOptions(c.at, x)...)
	stream := service.NewStreaming(inner, params)
	defer stream.Close()
	reply := &Reply{Message: Message{Role: Assistant}, Stop: Done}
	var aloud thought.Stream
	for stream.Next() {
		event := stream.Current()
		switch event.Type {
		case "response.refusal.delta":
			reply.Stop = Denied
			tell(say, event.Delta)
		case "response.output_text.delta":
			tell(say, aloud.Next(event.Delta))
		case "response.output_item.done":
			tell(say, aloud.End(false))
			reply.Message.Parts = append(reply.Message.Parts, responsePart(&event.Item)...)
		case "response.completed", "response.incomplete":
			return reply.settle(&event.Response), nil
		case "response.failed":
			return nil, answered{body: event.Response.Error.RawJSON()}.classify()
		case "error":
			return nil, answered{body: event.RawJSON()}.classify()
		}
	}
	if err := stream.Err(); err != nil {
		return nil, x.wrong(inner, streamed(err))
	}
	return nil, x.wrong(inner, errCutShort)
}

// streamed finds an error of the provider within its stream.
func streamed(err error) error {
	var within *ssestream.StreamError
	if errors.As(err, &within) {
		return answered{body: string(within.Event.Data)}.classify()
	}
	return err
}

// settle takes what is only known at the end.
func (r *Reply) settle(end *responses.Response) *Reply {
	r.Model = string(end.Model)
	u := end.Usage
	r.Usage = disjoint(u.InputTokens, u.OutputTokens, u.InputTokensDetails.CachedTokens)
	switch end.IncompleteDetails.Reason {
	case "max_output_tokens":
		r.Stop = Cut
	case "content_filter":
		r.Stop = Denied
	}
	if len(r.Message.Parts) == 0 { // some servers say all of it at the end only
		for i := range end.Output {
			r.Message.Parts = append(r.Message.Parts, responsePart(&end.Output[i])...)
		}
	}
	return r
}

// responsePart is an item of the output.
func responsePart(item *responses.ResponseOutputItemUnion) []Part {
	switch item.Type {
	case "message":
		var all []Part
		for _, c := range item.Content {
			if text := thought.Cut(c.Text + c.Refusal); text != "" {
				all = append(all, &Text{text})
			}
		}
		return all
	case "function_call":
		return []Part{&Call{ID: item.CallID, Name: item.Name, Input: object(item.Arguments.OfString)}}
	case "reasoning":
		return reasoning(item.RawJSON())
	}
	return nil
}

// reasoning is what is kept of how a model came to its reply: what is encrypted,
// less what can be read. What can only be read is for the model alone.
func reasoning(raw string) []Part {
	var w map[string]json.RawMessage
	var sealed string
	if json.Unmarshal([]byte(raw), &w) != nil {
		return nil
	}
	switch _ = json.Unmarshal(w["encrypted_content"], &sealed); {
	case sealed != "":
		delete(w, "content")
		w["summary"] = json.RawMessage("[]")
		text, err := json.Marshal(w)
		if err != nil {
			return nil
		}
		return []Part{&Kept{API: Responses, JSON: text}}
	case len(w["content"]) > len("[]") && string(w["content"]) != "null":
		return []Part{&Thought{API: Responses, JSON: json.RawMessage(raw)}}
	}
	return nil // by its id nobody finds it: nothing is stored there
}

func (c *responder) params(r *Request) (responses.ResponseNewParams, error) {
	p := responses.ResponseNewParams{
		Model: c.at.Spec.Model, Store: openai.Bool(false),
		Include: []responses.ResponseIncludable{"reasoning.encrypted_content"},
	}
	if text := system(r); text != "" {
		p.Instructions = openai.String(text)
	}
	if r.CacheKey != "" {
		p.PromptCacheKey = openai.String(r.CacheKey)
	}
	if c.at.Spec.Effort != "" {
		p.Reasoning.Effort = shared.ReasoningEffort(c.at.Spec.Effort)
	}
	if c.at.Facts.MaxOutput > 0 {
		p.MaxOutputTokens = openai.Int(c.at.Facts.MaxOutput)
	}
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: schema, Strict: openai.Bool(false),
		}})
	}
	if len(r.Schema) > 0 && !r.without(responseFormat) {
		var wanted map[string]any
		if err := json.Unmarshal(r.Schema, &wanted); err != nil {
			return p, fmt.Errorf("the schema of the answer: %w", err)
		}
		p.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{
			Name: AnswerTool, Schema: wanted, Strict: openai.Bool(schema.Strict(r.Schema)),
		}
	}
	for _, m := range r.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, responseItems(m)...)
	}
	return p, nil
}

// responseItems are a message as the API has it.
func responseItems(m Message) []responses.ResponseInputItemUnionParam {
	var all []responses.ResponseInputItemUnionParam
	said := func(text string) {
		all = append(all, responses.ResponseInputItemParamOfMessage(text, responses.EasyInputMessageRole(m.Role)))
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *Text:
			said(part.Text)
		case *Note:
			said(part.Text)
		case *Call:
			all = append(all, responses.ResponseInputItemParamOfFunctionCall(string(part.Input), part.ID, part.Name))
		case *Result:
			all = append(all, responses.ResponseInputItemUnionParam{
				OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
					CallID: openai.String(part.ID),
					Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(part.Text)},
				},
			})
		case *Kept:
			if part.API == Responses {
				all = append(all, param.Override[responses.ResponseInputItemUnionParam](part.JSON))
			}
		case *Thought:
			if part.API == Responses {
				all = append(all, param.Override[responses.ResponseInputItemUnionParam](part.JSON))
			}
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
	}
	return all
}

package model

import (
	"context"
	"encoding/json"
	"fmt"

	"agentswarm/swarm/schema"
	"agentswarm/swarm/thought"
)

// responsesModel asks by OpenAI's Responses API. Nothing is stored there: the
// conversation is ours, and reasoning comes encrypted to be sent back.
type responsesModel struct{ at *Endpoint }

// Ask sends a request and returns the reply, as Model says.
func (m *responsesModel) Ask(ctx context.Context, r *Request, say func(string)) (*Reply, error) {
	body, err := m.request(r)
	if err != nil {
		return nil, err
	}
	return m.at.send(ctx, call{path: "responses", header: m.at.bearer(), body: body}, newResponsesReply(say))
}

// responsesRequest is the body of a request.
type responsesRequest struct {
	Instructions    string              `json:"instructions,omitempty"`
	MaxOutputTokens int64               `json:"max_output_tokens,omitempty"`
	PromptCacheKey  string              `json:"prompt_cache_key,omitempty"`
	Store           bool                `json:"store"`
	Include         []string            `json:"include"`
	Input           []any               `json:"input,omitempty"` // *responses… below, or JSON that the API gave
	Model           string              `json:"model"`
	Reasoning       *responsesReasoning `json:"reasoning,omitempty"`
	Text            *responsesText      `json:"text,omitempty"`
	Tools           []responsesTool     `json:"tools,omitempty"`
	Stream          bool                `json:"stream"`
}

type responsesMessage struct {
	Content string `json:"content"`
	Role    Role   `json:"role"`
}

type responsesCall struct {
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
}

type responsesResult struct {
	Output string `json:"output"`
	CallID string `json:"call_id"`
	Type   string `json:"type"`
}

type responsesReasoning struct {
	Effort string `json:"effort"`
}

type responsesText struct {
	Format responsesFormat `json:"format"`
}

type responsesFormat struct {
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	Strict bool           `json:"strict"`
	Type   string         `json:"type"`
}

type responsesTool struct {
	Strict      bool           `json:"strict"`
	Parameters  map[string]any `json:"parameters,omitzero"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Type        string         `json:"type"`
}

func (m *responsesModel) request(r *Request) (*responsesRequest, error) {
	p := &responsesRequest{
		Instructions: system(r), MaxOutputTokens: max(m.at.Facts.MaxOutput, 0), PromptCacheKey: r.CacheKey,
		Include: []string{"reasoning.encrypted_content"}, Model: m.at.Spec.Model, Stream: true,
	}
	if m.at.Spec.Effort != "" {
		p.Reasoning = &responsesReasoning{m.at.Spec.Effort}
	}
	for _, t := range r.Tools {
		parameters, err := t.parameters()
		if err != nil {
			return nil, err
		}
		p.Tools = append(p.Tools, responsesTool{Parameters: parameters, Name: t.Name, Description: t.Description, Type: "function"})
	}
	if len(r.Schema) > 0 && !r.without(responseFormat) {
		f := responsesFormat{Name: AnswerTool, Strict: schema.Strict(r.Schema), Type: "json_schema"}
		if err := json.Unmarshal(r.Schema, &f.Schema); err != nil {
			return nil, fmt.Errorf("the schema of the answer: %w", err)
		}
		p.Text = &responsesText{f}
	}
	for _, message := range r.Messages {
		p.add(message)
	}
	return p, nil
}

// add appends a message as the API has it: each part is an item.
func (p *responsesRequest) add(m Message) {
	for _, part := range m.Parts {
		var item any
		switch part := part.(type) {
		case *Text:
			item = &responsesMessage{part.Text, m.Role}
		case *Note:
			item = &responsesMessage{part.Text, m.Role}
		case *Call:
			item = &responsesCall{Arguments: string(part.Input), CallID: part.ID, Name: part.Name, Type: "function_call"}
		case *Result:
			item = &responsesResult{Output: part.Text, CallID: part.ID, Type: "function_call_output"}
		case *Kept:
			if part.API != Responses {
				continue
			}
			item = part.JSON
		case *Thought:
			if part.API != Responses {
				continue
			}
			item = part.JSON
		default:
			panic(fmt.Sprintf("unhandled %T", part))
		}
		p.Input = append(p.Input, item)
	}
}

// responsesEvent is an event of a stream. Which members it has follows from its
// type; the others are empty.
type responsesEvent struct {
	Type     string          `json:"type"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response responsesEnd    `json:"response"`
	Error    json.RawMessage `json:"error"`
}

// responsesEnd is the response itself, of which the last event tells.
type responsesEnd struct {
	Model string `json:"model"`
	Usage struct {
		Input   count `json:"input_tokens"`
		Output  count `json:"output_tokens"`
		Details struct {
			Cached count `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Output []json.RawMessage `json:"output"`
	Error  json.RawMessage   `json:"error"`
}

// responsesItem is an item of the output: message, function_call or reasoning.
type responsesItem struct {
	Type    string `json:"type"`
	Content []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// responsesReply builds a reply from the events of a stream.
type responsesReply struct {
	say    func(string)
	spoken thought.Stream
	reply  *Reply
	ended  bool
}

func newResponsesReply(say func(string)) *responsesReply {
	return &responsesReply{say: say, reply: &Reply{Message: Message{Role: Assistant}, Stop: Done}}
}

// add takes an event. Types that are not known are skipped.
func (a *responsesReply) add(e sseEvent) (over bool, err error) {
	switch {
	case len(e.data) == 0:
		return false, nil
	case e.done():
		return true, nil
	}
	var w responsesEvent
	if err := decode(e.data, &w); err != nil {
		return false, err
	}
	if w.Type == "error" || given(w.Error) {
		return false, answered{body: string(e.data)}.classify()
	}
	switch w.Type {
	case "response.refusal.delta":
		a.reply.Stop = Denied
		sendText(a.say, w.Delta)
	case "response.output_text.delta":
		sendText(a.say, a.spoken.Next(w.Delta))
	case "response.output_item.done":
		sendText(a.say, a.spoken.End(false))
		a.addItem(w.Item)
	case "response.completed", "response.incomplete":
		a.settle(&w.Response)
		a.ended = true
	case "response.failed":
		body := ""
		if given(w.Response.Error) {
			body = string(w.Response.Error)
		}
		return false, answered{body: body}.classify()
	}
	return a.ended, nil
}

// settle takes the values that are only known at the end.
func (a *responsesReply) settle(end *responsesEnd) {
	a.reply.Model = end.Model
	u := end.Usage
	a.reply.Usage = disjoint(int64(u.Input), int64(u.Output), int64(u.Details.Cached))
	switch end.Incomplete.Reason {
	case "max_output_tokens":
		a.reply.Stop = Cut
	case "content_filter":
		a.reply.Stop = Denied
	}
	if len(a.reply.Message.Parts) == 0 { // some servers say all of it at the end only
		for _, item := range end.Output {
			a.addItem(item)
		}
	}
}

func (a *responsesReply) finish() (*Reply, error) {
	if !a.ended {
		return nil, errCutShort
	}
	return a.reply, nil
}

// addItem adds an item of the output to the message.
func (a *responsesReply) addItem(raw json.RawMessage) {
	var item responsesItem
	if len(raw) == 0 || decode(raw, &item) != nil {
		return
	}
	parts := &a.reply.Message.Parts
	switch item.Type {
	case "message":
		for _, c := range item.Content {
			if text := thought.Cut(c.Text + c.Refusal); text != "" {
				*parts = append(*parts, &Text{text})
			}
		}
	case "function_call":
		*parts = append(*parts, &Call{ID: item.CallID, Name: item.Name, Input: object(stringOrJSON(item.Arguments))})
	case "reasoning":
		if part := reasoning(raw); part != nil {
			*parts = append(*parts, part)
		}
	}
}

// reasoning returns the part to keep of a model's reasoning: the encrypted part
// without its readable text. Readable reasoning alone is for the model only. It
// returns nil if there is neither: an id alone finds nothing, as nothing is
// stored there.
func reasoning(raw json.RawMessage) Part {
	var members map[string]json.RawMessage
	var sealed string
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	switch _ = json.Unmarshal(members["encrypted_content"], &sealed); {
	case sealed != "":
		delete(members, "content")
		members["summary"] = json.RawMessage("[]")
		text, err := json.Marshal(members)
		if err != nil {
			return nil
		}
		return &Kept{API: Responses, JSON: text}
	case len(members["content"]) > len("[]") && string(members["content"]) != "null":
		return &Thought{API: Responses, JSON: raw}
	}
	return nil
}

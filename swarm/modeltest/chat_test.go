package modeltest

import (
	"errors"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

func askChat(t *testing.T, url string, q question) reply {
	t.Helper()
	c := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(secret), option.WithMaxRetries(0))
	params := chatParams(t, q)
	if !q.stream {
		m, err := c.Chat.Completions.New(t.Context(), params)
		if err != nil {
			return brokenOpenAI(err)
		}
		return chatReply(*m)
	}
	params.StreamOptions.IncludeUsage = param.NewOpt(true)
	s := c.Chat.Completions.NewStreaming(t.Context(), params)
	var all openai.ChatCompletionAccumulator
	for s.Next() {
		if !all.AddChunk(s.Current()) {
			t.Fatalf("chunk does not fit: %s", s.Current().RawJSON())
		}
	}
	if s.Err() != nil {
		return brokenOpenAI(s.Err())
	}
	return chatReply(all.ChatCompletion)
}

func chatParams(t *testing.T, q question) openai.ChatCompletionNewParams {
	t.Helper()
	params := openai.ChatCompletionNewParams{Model: "m"}
	params.Messages = []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be brief"), openai.UserMessage(q.prompt)}
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "bash", Parameters: commandSchema(t),
	})}
	for _, r := range q.results {
		call := openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: "id", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "bash", Arguments: "{}"},
		}}
		params.Messages = append(params.Messages, openai.ChatCompletionMessageParamUnion{
			OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{call}},
		}, openai.ToolMessage(r, "id"))
	}
	if q.schema {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "x", Schema: commandSchema(t)},
		}
	}
	return params
}

func chatReply(m openai.ChatCompletion) reply {
	u := m.Usage
	is := reply{Text: m.Choices[0].Message.Content, Model: m.Model, Usage: Usage{
		Input:  int(u.PromptTokens - u.PromptTokensDetails.CachedTokens),
		Output: int(u.CompletionTokens), CacheRead: int(u.PromptTokensDetails.CachedTokens),
	}}
	is.Stop = map[string]Stop{
		"stop": StopEnd, "tool_calls": StopCalls, "length": StopLength, "content_filter": StopRefuse,
	}[m.Choices[0].FinishReason]
	for _, call := range m.Choices[0].Message.ToolCalls {
		is.Calls = append(is.Calls, call.Function.Name+" "+call.Function.Arguments)
	}
	return is
}

func brokenOpenAI(err error) reply {
	if is, ok := errors.AsType[*openai.Error](err); ok && is.Response != nil {
		return broken(is.StatusCode, is.Response.Header)
	}
	return reply{Cut: true}
}

package modeltest

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	api "github.com/openai/openai-go/v3/responses"
)

func askResponses(t *testing.T, url string, q question) reply {
	t.Helper()
	c := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey(secret), option.WithMaxRetries(0))
	if !q.stream {
		m, err := c.Responses.New(t.Context(), responsesParams(t, q))
		if err != nil {
			return brokenOpenAI(err)
		}
		return responsesReply(*m)
	}
	s := c.Responses.NewStreaming(t.Context(), responsesParams(t, q))
	var m api.Response
	pieces := ""
	for number := int64(0); s.Next(); number++ {
		e := s.Current()
		if e.SequenceNumber != number {
			t.Errorf("event %s has number %d, want %d", e.Type, e.SequenceNumber, number)
		}
		switch e.Type {
		case "response.output_text.delta":
			pieces += e.Delta
		case "response.completed", "response.incomplete":
			m = e.Response
		}
	}
	if s.Err() != nil {
		return brokenOpenAI(s.Err())
	}
	if m.Status == "" {
		return reply{Cut: true}
	}
	if pieces != m.OutputText() {
		t.Errorf("the pieces are %q, the whole %q", pieces, m.OutputText())
	}
	return responsesReply(m)
}

func responsesParams(t *testing.T, q question) api.ResponseNewParams {
	t.Helper()
	input := api.ResponseInputParam{api.ResponseInputItemParamOfMessage(q.prompt, "user")}
	for _, r := range q.results {
		output := api.ResponseInputItemParamOfFunctionCallOutput(r)
		output.OfFunctionCallOutput.CallID = param.NewOpt("id")
		input = append(input, api.ResponseInputItemParamOfFunctionCall("{}", "id", "bash"), output)
	}
	params := api.ResponseNewParams{
		Model: "m", Instructions: param.NewOpt("be brief"),
		Input: api.ResponseNewParamsInputUnion{OfInputItemList: input},
		Tools: []api.ToolUnionParam{api.ToolParamOfFunction("bash", commandSchema(t), false)},
	}
	if q.schema {
		params.Text.Format = api.ResponseFormatTextConfigParamOfJSONSchema("x", commandSchema(t))
	}
	return params
}

func responsesReply(m api.Response) reply {
	u := m.Usage
	is := reply{Text: m.OutputText(), Model: m.Model, Stop: StopEnd, Usage: Usage{
		Input:  int(u.InputTokens - u.InputTokensDetails.CachedTokens),
		Output: int(u.OutputTokens), CacheRead: int(u.InputTokensDetails.CachedTokens),
	}}
	for _, item := range m.Output {
		switch item.Type {
		case "function_call":
			is.Calls = append(is.Calls, item.Name+" "+item.Arguments.OfString)
			is.Stop = StopCalls
		case "reasoning":
			is.Thinking = item.Summary[0].Text
		}
	}
	switch m.IncompleteDetails.Reason {
	case "max_output_tokens":
		is.Stop = StopLength
	case "content_filter":
		is.Stop = StopRefuse
	}
	return is
}

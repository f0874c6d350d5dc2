package modeltest

import (
	"errors"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func askAnthropic(t *testing.T, url string, q question) reply {
	t.Helper()
	c := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey(secret), option.WithMaxRetries(0))
	var m sdk.Message
	var err error
	if q.stream {
		s := c.Messages.NewStreaming(t.Context(), anthropicParams(t, q))
		for s.Next() {
			if e := m.Accumulate(s.Current()); e != nil {
				t.Fatal(e)
			}
		}
		err = s.Err()
	} else {
		var whole *sdk.Message
		if whole, err = c.Messages.New(t.Context(), anthropicParams(t, q)); err == nil {
			m = *whole
		}
	}
	if err == nil {
		return anthropicReply(m)
	}
	if is, ok := errors.AsType[*sdk.Error](err); ok && is.Response != nil {
		return broken(is.StatusCode, is.Response.Header)
	}
	return reply{Cut: true}
}

func anthropicParams(t *testing.T, q question) sdk.MessageNewParams {
	t.Helper()
	params := sdk.MessageNewParams{
		Model: "m", MaxTokens: 1000, System: []sdk.TextBlockParam{{Text: "be brief"}},
		Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(q.prompt))},
	}
	params.Tools = []sdk.ToolUnionParam{{OfTool: &sdk.ToolParam{
		Name: "bash", InputSchema: sdk.ToolInputSchemaParam{
			Properties: commandSchema(t)["properties"], Required: []string{"command"},
		},
	}}}
	for _, r := range q.results {
		params.Messages = append(params.Messages,
			sdk.NewAssistantMessage(sdk.NewToolUseBlock("id", map[string]any{"command": "x"}, "bash")),
			sdk.NewUserMessage(sdk.NewToolResultBlock("id", r, false)))
	}
	if q.schema {
		params.OutputConfig.Format.Schema = commandSchema(t)
	}
	if q.mark {
		params.System[0].CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	return params
}

func anthropicReply(m sdk.Message) reply {
	is := reply{Model: string(m.Model), Usage: Usage{
		Input: int(m.Usage.InputTokens), Output: int(m.Usage.OutputTokens),
		CacheRead: int(m.Usage.CacheReadInputTokens), CacheWrite: int(m.Usage.CacheCreationInputTokens),
	}}
	is.Stop = map[sdk.StopReason]Stop{
		"end_turn": StopEnd, "tool_use": StopCalls, "max_tokens": StopLength, "refusal": StopRefuse,
	}[m.StopReason]
	for _, b := range m.Content {
		is.Text += b.Text
		if b.Type == "tool_use" {
			is.Calls = append(is.Calls, b.Name+" "+string(b.Input))
		}
		if b.Type == "thinking" {
			is.Thinking = b.Thinking
		}
	}
	return is
}

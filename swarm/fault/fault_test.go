package fault

import (
	"strings"
	"testing"

	"agentswarm/swarm/task"
)

// minutely is Google's message about a limit for a minute.
const minutely = `You exceeded your current quota, please check your plan and billing details. {"violations":` +
	`[{"quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier","quotaValue":"250000"}]} {"retryDelay":"26s"}`

func TestKind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		text   string
		want   task.ErrorKind
	}{
		{401, "whatever", task.Auth},
		{403, "insufficient_quota", task.Quota},
		{402, "", task.Quota},
		{429, "slow down", task.RateLimit},
		{429, "You exceeded your current quota", task.Quota},
		{500, "", task.Overloaded},
		{529, "", task.Overloaded},
		{400, "prompt is too long", task.Invalid},
		{404, "", task.Invalid},
		{418, "teapot", task.Invalid},
		{599, "", task.Overloaded},
		{0, "429 Too Many Requests", task.RateLimit},
		{0, "unexpected status 503 Service Unavailable", task.Overloaded},
		{0, "Error: 401 invalid x-api-key", task.Auth},
		{0, "fetch failed", task.Overloaded},
		{0, "Your credit balance is too low", task.Quota},
		{0, "You have exhausted your daily quota on this model.", task.Quota},
		{0, "content_filter", task.Refused},
		{0, "the model does not exist", task.Invalid},
		{0, "a bug", task.Other},
		{0, "read 429 files", task.Other},
		{0, `401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, task.Auth},
		{0, "401 Incorrect API key provided: sk-1.", task.Auth},
		{0, "No API key found for anthropic.", task.Auth},
		{0, `Authentication failed for "anthropic". Credentials may have expired or network is unavailable.`, task.Auth},
		{0, "OAuth token refresh failed for anthropic: 400", task.Auth},
		{0, "OAuth access token has expired", task.Auth},
		{0, "OAuth authentication is currently not supported: invalid session", task.Auth},
		{0, "expired OAuth session", task.Auth},
		{0, "stream idle timeout: no data for 300s from https://api.example.test/oauth/v1/messages", task.Overloaded},
		{0, "stream disconnected before completion: provider oauth-proxy closed", task.Overloaded},
		{0, "the OAuth page renders wrongly", task.Other},
		{0, "cannot compile the code that reads an OAuth token of the user", task.Other},
		{403, "Your account may not use this model", task.Auth},
		{403, "You have reached your spending limit", task.Quota},
		{0, `429 {"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, task.RateLimit},
		{0, "429 status code (no body)", task.RateLimit},
		{0, "Rate limit reached for gpt-5", task.RateLimit},
		{429, "You exceeded your current quota, please check your plan and billing details.", task.Quota},
		{0, `429 {"error":{"code":"insufficient_quota"}}`, task.Quota},
		{0, "Codex error: usage_limit_reached", task.Quota},
		{0, `400 {"error":{"message":"Your credit balance is too low to access the Anthropic API."}}`, task.Quota},
		{402, "Insufficient credits", task.Quota},
		{0, "Server requested 120s retry delay (max: 60s). 429", task.RateLimit},
		{0, `529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, task.Overloaded},
		{0, `fake API error (401): {"code":"invalid_api_key"}`, task.Auth},
		{0, "The server had an error while processing the request.", task.Overloaded},
		{0, "Provider finish_reason: content_filter", task.Refused},
		{0, "Codex error: HTTP 503", task.Overloaded},
		{0, "500 status code (no body)", task.Overloaded},
		{0, "503 Service Unavailable", task.Overloaded},
		{0, "Connection error.", task.Overloaded},
		{0, "terminated", task.Overloaded},
		{0, "your account was terminated", task.Other},
		{0, "Anthropic stream ended before message_stop", task.Overloaded},
		{0, "The model refused to complete the request", task.Refused},
		{0, "Response was blocked by the content filter", task.Refused},
		{0, `400 {"error":{"message":"prompt is too long: 300000 tokens"}}`, task.Invalid},
		{0, `404 {"error":{"type":"not_found_error","message":"model: nope"}}`, task.Invalid},
		{422, "odd", task.Invalid},
		{418, "", task.Invalid},
		{0, "something else", task.Other},
		{400, "timeout: 5 is no number", task.Invalid}, // words of the request
		{500, "the request exceeds the available context size", task.Invalid},
		{0, "stream disconnected before completion", task.Overloaded},
		{0, "Missing environment variable: OPENAI_API_KEY.", task.Auth},
		{0, "read tcp: Connection reset by peer", task.Overloaded},
		{0, "it read 500 files and then failed oddly", task.Other},
		{0, "", task.Other},
		{0, "ThrottlingException: Too many tokens, please wait before trying again.", task.RateLimit},
		{400, "Too many tokens, please wait before trying again.", task.RateLimit},
		{500, "Too many tokens, please wait before trying again.", task.Overloaded},
		{0, "Too many tokens", task.Invalid},
		{429, minutely, task.RateLimit},
		{0, minutely, task.RateLimit},
		{429, strings.Replace(minutely, "PerMinute", "PerDay", 1), task.Quota},
		{0, strings.Replace(minutely, "PerMinute", "PerDay", 1), task.Quota},
		{429, minutely + " quotaId: GenerateRequestsPerDayPerProjectPerModel-FreeTier", task.Quota},
		{403, minutely, task.Quota},
		{402, minutely, task.Quota},
		{429, "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 1. You can add a payment method at https://x.test/billing.", task.RateLimit},
		{0, "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'", task.RateLimit},
		{429, "You have exhausted your daily quota of 60 requests per minute", task.Quota},
		{400, "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).", task.Invalid},
		{0, "contextWindowExceeded", task.Invalid},
	} {
		if got := Kind(test.status, test.text); got != test.want {
			t.Errorf("Kind(%d, %q) = %s, want %s", test.status, test.text, got, test.want)
		}
	}
}

// TestTooLong checks that a request over a limit for a minute is not too long.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		text   string
		want   bool
	}{
		{400, "Prompt is too long: 300000 tokens", true}, {0, "context_length_exceeded", true}, {413, "", true},
		{429, "too many tokens in this minute", false}, {400, "no", false},
		{0, "ThrottlingException: Too many tokens, please wait before trying again.", false}, {400, "Too many tokens, please wait before trying again.", false},
		{0, "Too many tokens", true}, {400, "The input exceeds the model's contextWindow", true},
	} {
		if got := TooLong(test.status, test.text); got != test.want {
			t.Errorf("TooLong(%d, %q) = %t", test.status, test.text, got)
		}
	}
}

func TestOfModel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"404 Not Found: model \"m\" not found, try pulling it first":                         true,
		"The model `gpt-9` does not exist or you do not have access to it.":                  true,
		"not_found_error: model: claude-9":                                                   true,
		"models/gemini-9 is not found for API version v1beta":                                true,
		"m/x is not a valid model ID":                                                        true,
		"No endpoints found for m/x.":                                                        true,
		"Model Not Exist":                                                                    true,
		"ProviderModelNotFoundError":                                                         true,
		"The 'x' model is not supported when using this account.":                            true,
		"'response_format' of type 'json_schema' is not supported with this model":           true,
		"This model's maximum context length is 8192 tokens":                                 true,
		"prompt is too long: 210000 tokens > 200000 maximum":                                 true,
		"the task is longer than what the model takes":                                       true,
		"The input token count (1200293) exceeds the maximum number of tokens allowed":       true,
		"the request exceeds the available context size":                                     true,
		"This exceeds the maximum prompt length of 131072":                                   true,
		"contextWindowExceeded":                                                              true,
		"Too many tokens, please wait before trying again.":                                  false,
		"effort: the model m cannot think at \"max\"; the nearest it can is \"high\"":        true,
		Down("http://127.0.0.1:11434"):                                                       true,
		"no":                                                                                 false,
		"Invalid schema for response_format 'x'":                                             false,
		"thread not found: 12":                                                               false,
		"400 Bad Request: messages.0: content is empty":                                      false,
		"the endpoint answers with text/html, which is no stream of a model: is its address": false,
		"": false,
	} {
		if got := OfModel(text); got != want {
			t.Errorf("OfModel(%q) = %t, want %t", text, got, want)
		}
	}
}

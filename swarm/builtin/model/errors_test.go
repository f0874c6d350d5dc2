package model

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give answered
		want Error
	}{
		{"a key", answered{status: 401, body: `{"error":{"message":"bad key","type":"authentication_error"}}`}, Error{Kind: task.Auth, Text: "401 Unauthorized: bad key"}},
		{"no right", answered{status: 403, body: "<html>no</html>"}, Error{Kind: task.Auth, Text: "403 Forbidden: <html>no</html>"}},
		{"too fast", answered{status: 429, header: http.Header{"Retry-After": {"2"}}, body: `{"error":{"message":"slow down"}}`},
			Error{Kind: task.RateLimit, Wait: true, After: 2 * time.Second, Text: "429 Too Many Requests: slow down"}},
		{"in milliseconds", answered{status: 429, header: http.Header{"Retry-After-Ms": {"1500"}}, body: `{}`},
			Error{Kind: task.RateLimit, Wait: true, After: 1500 * time.Millisecond, Text: "429 Too Many Requests: {}"}},
		{"no money", answered{status: 429, body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`},
			Error{Kind: task.Quota, Text: "429 Too Many Requests: You exceeded your current quota"}},
		{"no credits", answered{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`},
			Error{Kind: task.Quota, Text: "400 Bad Request: Your credit balance is too low"}},
		{"too much for a minute", answered{status: 429, body: `{"error":{"message":"too many tokens in this minute"}}`},
			Error{Kind: task.RateLimit, Wait: true, Text: "429 Too Many Requests: too many tokens in this minute"}},
		{"used up for a minute", answered{status: 429, body: `{"error":{"message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]}}`},
			Error{Kind: task.RateLimit, Wait: true, Text: "429 Too Many Requests: You exceeded your current quota"}},
		{"used up for a day", answered{status: 429, body: `{"error":{"message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`},
			Error{Kind: task.Quota, Text: "429 Too Many Requests: You exceeded your current quota"}},
		{"too long", answered{status: 400, body: `{"error":{"message":"x","code":"context_length_exceeded"}}`},
			Error{Kind: task.Invalid, TooLong: true, Text: "400 Bad Request: x"}},
		{"too large", answered{status: 413, body: ""}, Error{Kind: task.Invalid, TooLong: true, Text: "413 Request Entity Too Large: no reason was given"}},
		{"no schema", answered{status: 400, body: `{"error":{"message":"response_format is not supported"}}`},
			Error{Kind: task.Invalid, Untaken: "response_format", Text: "400 Bad Request: response_format is not supported"}},
		{"an option nobody knows", answered{status: 422, body: `{"detail":[{"loc":["body","stream_options"],"msg":"extra"}]}`},
			Error{Kind: task.Invalid, Untaken: "stream_options", Text: `422 Unprocessable Entity: {"detail":[{"loc":["body","stream_options"],"msg":"extra"}]}`}},
		{"too long for a local server", answered{status: 400, body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`},
			Error{Kind: task.Invalid, TooLong: true, Text: "400 Bad Request: the request exceeds the available context size"}},
		{"no such model", answered{status: 404, body: `{"error":"model not found"}`}, Error{Kind: task.Invalid, Text: "404 Not Found: model not found"}},
		{"down", answered{status: 500, body: "oops"}, Error{Kind: task.Overloaded, Wait: true, Text: "500 Internal Server Error: oops"}},
		{"busy", answered{status: 529, body: `{"error":{"type":"overloaded_error","message":"Overloaded"}}`}, Error{Kind: task.Overloaded, Wait: true, Text: "529: Overloaded"}},
		{"in a stream", answered{body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, Error{Kind: task.Overloaded, Wait: true, Text: "Overloaded"}},
		{"too fast in a stream", answered{body: `{"code":"rate_limit_exceeded","message":"slow"}`}, Error{Kind: task.RateLimit, Wait: true, Text: "slow"}},
		{"wrong in a stream", answered{body: `{"error":{"type":"invalid_request_error","message":"no"}}`}, Error{Kind: task.Invalid, Text: "no"}},
		{"a status in a stream", answered{body: `{"error":{"code":402,"message":"Provider returned error"}}`}, Error{Kind: task.Quota, Text: "Provider returned error"}},
		{"a wrong request in a stream", answered{body: `{"error":{"object":"error","type":"BadRequestError","code":400,"message":"no"}}`}, Error{Kind: task.Invalid, Text: "no"}},
		{"too fast in an answer", answered{status: 200, body: `{"error":{"code":429,"message":"Provider returned error"}}`},
			Error{Kind: task.RateLimit, Wait: true, Text: "Provider returned error"}},
		{"a number that is no status", answered{body: `{"error":{"code":7,"message":"no"}}`}, Error{Kind: task.Overloaded, Wait: true, Text: "no"}},
		{"long", answered{status: 418, body: strings.Repeat("é", 400)}, Error{Kind: task.Invalid, Text: "418 I'm a teapot: " + strings.Repeat("é", 250) + "…"}},
	}
	for _, test := range tests {
		if got := test.give.classify(); *got != test.want {
			t.Errorf("%s: classify = %+v, want %+v", test.name, *got, test.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for give, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0.5": time.Second / 2, "-1": 0, "NaN": 0, "Inf": 24 * time.Hour, "soon": 0,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {give}}, func() time.Time { return now }); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", give, got, want)
		}
	}
}

func FuzzReadError(f *testing.F) {
	f.Add(`{"error":{"message":"m","type":"t","code":"c"}}`)
	f.Add(`{"error":"e"}`)
	f.Add(`{"error":{"error":{"error":{}}}}`)
	f.Add("\xff<html>")
	f.Fuzz(func(t *testing.T, body string) {
		said, _ := readError(body)
		if said == "" || len(said) > maxSaid+len("…") || strings.ContainsAny(said, "\n\r\t") {
			t.Errorf("readError(%q) = %q", body, said)
		}
	})
}

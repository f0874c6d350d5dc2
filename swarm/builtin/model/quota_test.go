package model

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// TestQuota holds which answers of providers close a window, and until when.
func TestQuota(t *testing.T) {
	t.Parallel()
	in := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).UnixMilli(), 10) }
	for _, test := range []struct {
		name string
		a    answered
		kind task.ErrorKind
		want *event.Quota // ResetsAt of 1: some time
	}{
		{"Anthropic", answered{429, headers("anthropic-ratelimit-unified-status", "rejected", "anthropic-ratelimit-unified-reset", "1795500000",
			"anthropic-ratelimit-unified-representative-claim", "five_hour"), `{"error":{"type":"rate_limit_error","message":"slow"}}`},
			task.Quota, &event.Quota{Window: "five_hour", ResetsAt: 1795500000, Account: true, Title: "Anthropic five-hour limit"}},
		{"Anthropic allows", answered{429, headers("anthropic-ratelimit-unified-status", "allowed", "retry-after", "3"), `{"error":{"type":"rate_limit_error","message":"slow"}}`},
			task.RateLimit, nil},
		{"ChatGPT", answered{429, headers(), `{"error":{"type":"usage_limit_reached","message":"usage limit","resets_at":1777936568,"resets_in_seconds":13872}}`},
			task.Quota, &event.Quota{ResetsAt: 1777936568, Account: true, Title: "ChatGPT usage limit"}},
		{"ChatGPT headers", answered{429, headers("x-codex-primary-used-percent", "100", "x-codex-primary-reset-at", "1795500000", "x-codex-secondary-used-percent", "30",
			"x-codex-secondary-reset-at", "1795900000"), `{"error":{"type":"usage_limit_reached","message":"usage limit"}}`},
			task.Quota, &event.Quota{ResetsAt: 1795500000, Account: true, Title: "ChatGPT usage limit"}},
		{"Gemini a day", answered{429, headers(), `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"RequestsPerDay"}]}}`},
			task.Quota, &event.Quota{Window: "day", Midnight: "America/Los_Angeles", Title: "Gemini quota per day"}},
		{"Gemini soon", answered{429, headers(), `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"RequestsPerDay"},{"retryDelay":"34s"}]}}`},
			task.RateLimit, nil},
		{"billing", answered{429, headers(), `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`}, task.Quota, nil},
		{"credits", answered{402, headers(), `{"error":{"message":"Insufficient credits"}}`}, task.Quota, nil},
		{"OpenRouter a day", answered{429, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(5*time.Hour)), `{"error":{"message":"Rate limit exceeded"}}`},
			task.Quota, &event.Quota{ResetsAt: 1}},
		{"OpenRouter soon", answered{429, headers("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", in(5*time.Minute)), `{"error":{"message":"Rate limit exceeded"}}`},
			task.RateLimit, nil},
		{"OpenAI", answered{429, headers("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "6m0s"), `{"error":{"message":"Rate limit reached"}}`},
			task.RateLimit, nil},
		{"a quota of tokens is left", answered{429, headers("x-ratelimit-remaining-tokens", "9", "x-ratelimit-reset-tokens", "60h"), `{"error":{"message":"Rate limit reached"}}`},
			task.RateLimit, nil},
		{"no limit", answered{500, headers("anthropic-ratelimit-unified-status", "rejected"), `{"error":{"message":"x"}}`}, task.Overloaded, nil},
	} {
		e := test.a.classify()
		got := e.Quota
		if got != nil && test.want != nil && test.want.ResetsAt == 1 && got.ResetsAt > time.Now().Unix() {
			test.want.ResetsAt = got.ResetsAt
		}
		if e.Kind != test.kind || (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("%s: %s, %+v; want %s, %+v", test.name, e.Kind, got, test.kind, test.want)
		}
		if e.Kind == task.Quota && e.Wait {
			t.Errorf("%s: the agent asks again", test.name)
		}
	}
}

// TestQuotaUse checks the use that is read of open windows.
func TestQuotaUse(t *testing.T) {
	t.Parallel()
	now := time.Unix(1795400000, 0)
	got := quotaUse(headers(
		"anthropic-ratelimit-unified-5h-utilization", "0.925", "anthropic-ratelimit-unified-5h-reset", "1795500000",
		"anthropic-ratelimit-unified-7d-utilization", "nan", "x-codex-secondary-used-percent", "40",
		"x-codex-secondary-window-minutes", "10080", "x-codex-secondary-reset-after-seconds", "60",
	), now)
	want := []event.QuotaUsed{
		{Window: "5h", Title: "Anthropic five-hour limit", Percent: 92, ResetsAt: 1795500000},
		{Window: "secondary", Title: "ChatGPT weekly limit", Percent: 40, ResetsAt: now.Unix() + 60},
	}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("use: %+v, want %+v", got, want)
	}
}

package codex

import (
	"fmt"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestQuota checks the parsed windows of an account's quota.
func TestQuota(t *testing.T) {
	t.Parallel()
	limits := func(primary, secondary int) string {
		return fmt.Sprintf(`{"method":"account/rateLimits/updated","params":{"rateLimits":{`+
			`"primary":{"usedPercent":%d,"windowDurationMins":300,"resetsAt":1795500000},`+
			`"secondary":{"usedPercent":%d,"windowDurationMins":10080,"resetsAt":1795900000}}}}`+"\n", primary, secondary)
	}
	failed := func(info, message, details string) string {
		return fmt.Sprintf(`{"method":"error","params":{"threadId":"","willRetry":true,"error":{"message":%q,"codexErrorInfo":%q,"additionalDetails":%q}}}`+"\n", message, info, details)
	}
	const told = "You've hit your usage limit. Upgrade to Pro or try again at 12:16 PM."
	window := func(at int64, title string) *event.Quota {
		return &event.Quota{Account: true, ResetsAt: at, Title: title}
	}
	for _, test := range []struct {
		name, lines string
		kind        task.ErrorKind
		want        *event.Quota
	}{
		{"words alone", failed("usageLimitExceeded", told, ""), task.Quota, window(0, "Codex usage limit")},
		{"five hours", limits(100, 60) + failed("usageLimitExceeded", told, ""), task.Quota, window(1795500000, "Codex 5-hour limit")},
		{"a week", limits(70, 100) + failed("usageLimitExceeded", told, ""), task.Quota, window(1795900000, "Codex weekly limit")},
		{"both", limits(100, 100) + failed("usageLimitExceeded", told, ""), task.Quota, window(1795900000, "Codex weekly limit")},
		{
			"the backend's body", limits(100, 0) + failed("other", `unexpected status 429`, `{"error":{"type":"usage_limit_reached","plan_type":"plus","resets_at":1777936568,"resets_in_seconds":13872}}`),
			task.Quota, window(1777936568, "Codex usage limit"),
		},
		{"credits", failed("other", "insufficient_quota: You exceeded your current quota", ""), task.Quota, nil},
		{"a short limit", limits(100, 0) + failed("rateLimitExceeded", "Rate limit reached. Please try again in 1.5s.", ""), task.RateLimit, nil},
	} {
		p := Adapter{}.Parser(&agent.Spec{})
		all := append(p.Feed([]byte(test.lines)), p.End()...)
		retry, ok := all[len(all)-1].(*event.Retry)
		switch {
		case !ok:
			t.Errorf("%s: %T", test.name, all[len(all)-1])
		case retry.Kind != test.kind, (retry.Quota == nil) != (test.want == nil), test.want != nil && *retry.Quota != *test.want:
			t.Errorf("%s: %s, %+v; want %s, %+v", test.name, retry.Kind, retry.Quota, test.kind, test.want)
		}
	}
	p := Adapter{}.Parser(&agent.Spec{})
	all := p.Feed([]byte(limits(91, 40)))
	want := event.QuotaUsed{Window: "primary", Title: "Codex 5-hour limit", Percent: 91, ResetsAt: 1795500000}
	if used, ok := all[0].(*event.QuotaUsed); len(all) != 2 || !ok || *used != want {
		t.Errorf("use: %+v, want %+v", all, want)
	}
}

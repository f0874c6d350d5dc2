package claude

import (
	"fmt"
	"testing"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// lastOf feeds lines to a parser and returns the last event of them.
func lastOf(lines string) event.Event {
	p := Adapter{}.Parser(&agent.Spec{})
	all := append(p.Feed([]byte(lines)), p.End()...)
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}

func limitEvent(info string) string {
	return `{"type":"rate_limit_event","rate_limit_info":{` + info + `},"session_id":"s"}` + "\n"
}

func errorResult(status int, text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"api_error_status":%d,"result":%q,"session_id":"s"}`+"\n", status, text)
}

// TestQuota checks the parsed quota windows that are used up.
func TestQuota(t *testing.T) {
	t.Parallel()
	rejected := limitEvent(`"status":"rejected","resetsAt":1795500000,"rateLimitType":"five_hour","isUsingOverage":false`)
	account := func(title string) *event.Quota { return &event.Quota{Account: true, Title: title} }
	for _, test := range []struct {
		name, lines string
		kind        task.ErrorKind
		want        *event.Quota
	}{
		{"an event and words", rejected + errorResult(429, "You've hit your session limit · resets 6:30pm (Europe/Berlin)"), task.Quota, &event.Quota{
			Window: "five_hour", ResetsAt: 1795500000, Account: true, Title: "Claude session limit",
		}},
		{"an event and a status", rejected + errorResult(429, "API Error: 429"), task.Quota, &event.Quota{
			Window: "five_hour", ResetsAt: 1795500000, Account: true, Title: "Claude session limit",
		}},
		{"a window of a family", limitEvent(`"status":"rejected","resetsAt":1795500000,"rateLimitType":"seven_day_opus"`) + errorResult(429, "x"), task.Quota, &event.Quota{
			Window: "seven_day_opus", ResetsAt: 1795500000, Family: "opus", Title: "Claude weekly limit of opus",
		}},
		{"an event and another error", rejected + errorResult(401, "authentication_error"), task.Auth, nil},
		{"paid overage", limitEvent(`"status":"rejected","resetsAt":1795500000,"rateLimitType":"five_hour","isUsingOverage":true`) + errorResult(429, "rate_limit_error"), task.RateLimit, nil},
		{"allowed again", rejected + limitEvent(`"status":"allowed","rateLimitType":"five_hour"`) + errorResult(429, "rate_limit_error"), task.RateLimit, nil},
		{"a session", errorResult(0, "You've hit your session limit · resets 6:30pm (Europe/Berlin)"), task.Quota, account("Claude session limit")},
		{"a week", errorResult(0, "You've hit your weekly limit · resets Nov 25, 6am (Europe/Berlin)"), task.Quota, account("Claude weekly limit")},
		{"a weekday", errorResult(429, "You've hit your weekly limit · resets Monday 9am"), task.Quota, account("Claude weekly limit")},
		{"no name", errorResult(0, "You’ve hit your limit · resets Mar 15 at 12pm (America/Los_Angeles)"), task.Quota, account("Claude usage limit")},
		{"five hours", errorResult(0, "5-hour limit reached ∙ resets 3pm"), task.Quota, account("Claude 5-hour limit")},
		{"session limit reached", errorResult(0, "Session limit reached ∙ resets 2am"), task.Quota, account("Claude session limit")},
		{"epoch", errorResult(0, "Claude AI usage limit reached|1795500000"), task.Quota, account("Claude usage limit")},
		{"opus", errorResult(0, "Opus weekly limit reached ∙ resets Oct 6, 1pm"), task.Quota, &event.Quota{Family: "opus", Title: "Claude opus weekly limit"}},
		{"temporary", errorResult(429, "API Error: Server is temporarily limiting requests (not your usage limit)"), task.RateLimit, nil},
		{"temporary after an event", rejected + errorResult(429, "Server is temporarily limiting requests (not your usage limit)"), task.RateLimit, nil},
		{"words of a model", errorResult(0, "The page says that you've hit your session limit · resets 3pm"), task.Other, nil},
	} {
		erred, ok := lastOf(test.lines).(*event.Erred)
		switch {
		case !ok:
			t.Errorf("%s: no error", test.name)
		case erred.Kind != test.kind, (erred.Quota == nil) != (test.want == nil), test.want != nil && *erred.Quota != *test.want:
			t.Errorf("%s: %s, %+v; want %s, %+v", test.name, erred.Kind, erred.Quota, test.kind, test.want)
		}
	}
	retry, ok := lastOf(rejected + `{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit","attempt":1}` + "\n").(*event.Retry)
	if !ok || retry.Kind != task.Quota || retry.Quota == nil || retry.Quota.ResetsAt != 1795500000 {
		t.Errorf("a retry in a used up window: %+v", retry)
	}
}

// TestQuotaUsed checks a parsed window before it is used up.
func TestQuotaUsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		info string
		want *event.QuotaUsed
	}{
		{`"status":"allowed_warning","resetsAt":1795500000,"rateLimitType":"five_hour","utilization":0.92`, &event.QuotaUsed{
			Window: "five_hour", Title: "Claude session limit", Percent: 92, ResetsAt: 1795500000,
		}},
		{`"status":"allowed","resetsAt":1795500000,"rateLimitType":"seven_day","utilization":0.29`, &event.QuotaUsed{
			Window: "seven_day", Title: "Claude weekly limit", Percent: 29, ResetsAt: 1795500000,
		}},
		{`"status":"allowed_warning","rateLimitType":"seven_day_opus","surpassedThreshold":0.9`, &event.QuotaUsed{
			Window: "seven_day_opus", Title: "Claude weekly limit of opus", Percent: 90,
		}},
		{`"status":"allowed","rateLimitType":"five_hour"`, nil},
		{`"status":"allowed","rateLimitType":"overage","utilization":0.5`, nil},
		{`"status":"allowed"`, nil},
	} {
		used, _ := lastOf(limitEvent(test.info)).(*event.QuotaUsed)
		if (used == nil) != (test.want == nil) || used != nil && *used != *test.want {
			t.Errorf("%s: %+v, want %+v", test.info, used, test.want)
		}
	}
}

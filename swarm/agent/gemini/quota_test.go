package gemini

import (
	"testing"

	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// TestQuota checks that a short wait takes precedence over the name of a quota,
// and that a quota per day ends at midnight of the Pacific coast.
func TestQuota(t *testing.T) {
	t.Parallel()
	day := &event.Quota{Window: "day", Midnight: "America/Los_Angeles", Title: "Gemini quota per day"}
	for _, test := range []struct {
		text  string
		kind  task.ErrorKind
		after int64
		want  *event.Quota
	}{
		{"You have exhausted your daily quota on this model.", task.Quota, 0, day},
		{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"GenerateRequestsPerDayPerProject"}]}}`, task.Quota, 0, day},
		{`{"error":{"code":429,"details":[{"quotaId":"RequestsPerDay"},{"retryDelay":"34.07s"}]}}`, task.RateLimit, 34070, nil},
		{`{"error":{"code":429,"details":[{"quotaId":"RequestsPerDay"},{"retryDelay":"36000s"}]}}`, task.Quota, 36000000, &event.Quota{Title: "Gemini quota"}},
		{`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"requests per minute"}}`, task.RateLimit, 0, nil},
		{`{"error":{"code":500,"message":"daily quota"}}`, task.Overloaded, 0, nil},
	} {
		e := erred(test.text)
		if e.Kind != test.kind || e.RetryAfterMS != test.after || (e.Quota == nil) != (test.want == nil) || test.want != nil && *e.Quota != *test.want {
			t.Errorf("%s: %s after %d, %+v; want %s after %d, %+v", test.text, e.Kind, e.RetryAfterMS, e.Quota, test.kind, test.after, test.want)
		}
	}
}

package wire

import (
	"testing"

	"agentswarm/swarm/task"
)

func TestErrorKind(t *testing.T) {
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
		{0, "content_filter", task.Refused},
		{0, "the model does not exist", task.Invalid},
		{0, "a bug", task.Other},
		{0, "read 429 files", task.Other},
	} {
		if got := ErrorKind(test.status, test.text); got != test.want {
			t.Errorf("ErrorKind(%d, %q) = %s, want %s", test.status, test.text, got, test.want)
		}
	}
}

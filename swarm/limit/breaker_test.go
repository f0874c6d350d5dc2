package limit

import (
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/task"
)

func TestBreaker(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 13, 0, 0, 0, time.Local)
	bad := Failure{Agent: "a1", Kind: task.Other, Reason: "boom"}
	times := func(n int, f Failure) (all []any) {
		for range n {
			all = append(all, f)
		}
		return all
	}
	const passed = "passed"
	for _, tc := range []struct {
		name string
		give []any // failures, or passed
		want string
	}{
		{"nothing", nil, ""},
		{"four alike", times(4, bad), ""},
		{"five alike", times(5, bad), "5 agents in a row failed alike (boom); resume once that is mended"},
		{"one well in between", append(append(times(4, bad), passed), times(4, bad)...), ""},
		{"another text", append(times(4, bad), Failure{Kind: task.Other, Reason: "bang"}), ""},
		{"another kind", append(times(4, bad), Failure{Kind: task.Timeout, Reason: "boom"}), ""},
		{"auth", []any{Failure{Agent: "a7", Kind: task.Auth, Reason: "no key"}}, "a7 was not let in (auth: no key); resume once it is"},
		{"quota", []any{Failure{Agent: "a7", Kind: task.Quota, Reason: "empty"}}, "a7 has used up its quota (empty); resume once there is more"},
		{
			"quota until", []any{Failure{Agent: "a7", Kind: task.Quota, Reason: "empty", RetryAfter: 65 * time.Minute}},
			"a7 has used up its quota (empty); resume after 14:05",
		},
		{
			"quota until another day", []any{Failure{Agent: "a7", Kind: task.Quota, Reason: "empty", RetryAfter: 24 * time.Hour}},
			"a7 has used up its quota (empty); resume after 2026-03-02 13:00",
		},
		{"auth stays", []any{Failure{Agent: "a7", Kind: task.Auth, Reason: "no key"}, passed}, "a7 was not let in (auth: no key); resume once it is"},
		{"alike does not stay", append(times(5, bad), passed), ""},
		{"the first stays", append(times(5, bad), Failure{Agent: "a9", Kind: task.Auth}), "5 agents in a row failed alike (boom); resume once that is mended"},
	} {
		var b Breaker
		for _, g := range tc.give {
			switch g := g.(type) {
			case Failure:
				b.Failed(now, g)
			default:
				b.Passed()
			}
		}
		got := ""
		if trip := b.Open(); trip != nil {
			got = trip.Reason
			if until := strings.Contains(tc.want, "resume after"); trip.Until.IsZero() == until {
				t.Errorf("%s: until %s", tc.name, trip.Until)
			}
		}
		if got != tc.want {
			t.Errorf("%s: open for %q, want %q", tc.name, got, tc.want)
		}
	}
}

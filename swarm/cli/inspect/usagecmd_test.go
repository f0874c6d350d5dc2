package inspect

import (
	"testing"

	"agentswarm/swarm/task"
)

// TestAloneText checks the line that compares a run with a single model.
func TestAloneText(t *testing.T) {
	t.Parallel()
	alone := func(paid, cost float64) *aloneUsage {
		saved := cost - paid
		return &aloneUsage{Model: "m", Paid: &paid, Cost: &cost, Saved: &saved}
	}
	long := alone(1, 4)
	long.Longest = 200_000
	part := alone(1, 4)
	part.Paid, part.Saved, part.Unknown = nil, nil, []string{"a"}
	for _, tt := range []struct {
		give *aloneUsage
		want string
	}{
		{nil, ""},
		{alone(1, 4), "with everything on m it would be $4.0000: you saved $3.0000, 75 %\n"},
		{part, "with everything on m it would be $4.0000: the difference is not known: no price is known of all tokens of a\n"},
		{long, "with everything on m it would be $4.0000: you saved $3.0000, 75 %, if no request had more than 200,000 tokens\n"},
		{alone(4, 4), "with everything on m it would be $4.0000: the same\n"},
		{alone(4, 1), "with everything on m it would be $1.0000: you paid $3.0000 more\n"},
		{alone(0, 0), "with everything on m it would be $0.0000: the same\n"},
		{
			&aloneUsage{Model: "m\x1b[1m", Unknown: []string{"a", unsaid}},
			"with everything on m\\x1b[1m the cost is not known: no price is known of all tokens of a, not said\n",
		},
	} {
		if got := tt.give.text(); got != tt.want {
			t.Errorf("text() = %q, want %q", got, tt.want)
		}
	}
}

func TestUsageOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give         usageRow
		cost, origin string
	}{
		{usageRow{}, "$0.0000", ""},
		{usageRow{Cost: 1, Reported: 1}, "$1.0000", "reported"},
		{usageRow{Cost: 3, Computed: 1, Estimated: 2}, "$3.0000", "computed $1.0000, estimated $2.0000"},
		{usageRow{Cost: 1, Computed: 1, Unpriced: []string{"m"}}, "$1.0000", "computed, more is not known"},
		{usageRow{Unpriced: []string{"m"}}, "not known", ""},
	} {
		if cost, origin := tt.give.cost(), tt.give.origin(); cost != tt.cost || origin != tt.origin {
			t.Errorf("%+v costs %q from %q, want %q from %q", tt.give, cost, origin, tt.cost, tt.origin)
		}
	}
}

// TestUsageText checks that usage without a price is not shown as free, and
// that free usage has a price.
func TestUsageText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		give  *task.Usage
		spent usageRow
		want  string
	}{
		{nil, usageRow{}, ""},
		{&task.Usage{Input: 2, Output: 1}, usageRow{}, "2 in, 1 out, $0.0000"},
		{&task.Usage{Input: 2, Output: 1, CacheRead: 7, CacheWrite: 5}, usageRow{}, "2 in, 1 out, 7 cached, 5 written to the cache, $0.0000"},
		{&task.Usage{Input: 2, Output: 1}, usageRow{Unpriced: []string{"m"}}, "2 in, 1 out, cost not known"},
		{&task.Usage{Input: 2, Output: 1}, usageRow{Cost: 3, Estimated: 3}, "2 in, 1 out, $3.0000 estimated"},
		{&task.Usage{Input: 2, CostUSD: 3, ComputedUSD: 1}, usageRow{Cost: 3}, "2 in, 0 out, $3.0000, $1.0000 of it computed"},
		{&task.Usage{Input: 2, CostUSD: 3, ComputedUSD: 3}, usageRow{Cost: 3, Unpriced: []string{"m"}}, "2 in, 0 out, $3.0000 computed, more is not known"},
	} {
		if got := usageText(tt.give, tt.spent); got != tt.want {
			t.Errorf("usageText(%+v, %+v) = %q, want %q", tt.give, tt.spent, got, tt.want)
		}
	}
}

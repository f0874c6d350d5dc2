package task

import (
	"encoding/json"
	"math"
	"testing"
)

// TestMost checks that any usage that agents report can be encoded.
func TestMost(t *testing.T) {
	t.Parallel()
	most := Usage{
		Input: math.MaxInt64, Output: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64,
		CostUSD: MostUSD, ComputedUSD: MostUSD,
	}
	sum := most
	sum.Add(Usage{
		Input: math.MaxInt64, Output: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64,
		CostUSD: math.MaxFloat64, ComputedUSD: math.MaxFloat64,
	})
	if sum != most {
		t.Errorf("twice the most is %+v", sum)
	}
	amount := most.Spent()
	amount.Add(most.Spent())
	if amount != most.Spent() {
		t.Errorf("twice the most is %+v", amount)
	}
	if _, err := json.Marshal(sum); err != nil {
		t.Error(err)
	}
}

func TestDollars(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{
		0: "$0.00", 12.346: "$12.35", 0.01: "$0.01", 0.0042: "$0.0042", 0.00999: "$0.0100", 0.000005: "$0.0000050", -1: "$-1.00",
	} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%g) = %s, want %s", usd, got, want)
		}
	}
}

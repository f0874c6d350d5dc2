package roles

import (
	"math"
	"slices"
	"testing"
)

// TestAllOn: with all tokens on a single model the cost follows its price.
// Usage without a price is named instead of left out.
func TestAllOn(t *testing.T) {
	t.Parallel()
	prices := func(model string) (Price, bool) {
		p, ok := map[string]Price{"big": {Input: 10, Output: 20}, "small": {Input: 1, Output: 2}, "bare": {Input: 1, Output: 1}}[model]
		return p, ok
	}
	million := Usage{Input: 1e6, Output: 1e6}
	cached := Usage{CacheRead: 1}
	for _, tt := range []struct {
		name             string
		used             []Used
		model            string
		actual, baseline float64
		unknown          []string
	}{
		{name: "nothing", model: "big"},
		{name: "what is on it already costs what it did", used: []Used{{"big", million, 1, false}}, model: "big", actual: 1, baseline: 1},
		{name: "all of it is on it", used: []Used{{"big", million, 30, false}}, model: "big", actual: 30, baseline: 30},
		{name: "half is on the small one", used: []Used{{"big", million, 30, false}, {"small", million, 3, false}}, model: "big", actual: 33, baseline: 60},
		{name: "what nobody said the cost of is priced", used: []Used{{"small", million, 0, false}}, model: "big", actual: 3, baseline: 30},
		{name: "the one model has no price", used: []Used{{"small", million, 3, false}}, model: "other", actual: 3, unknown: []string{"other"}},
		{name: "another has none", used: []Used{{"z", million, 0, false}, {"a", million, 0, false}, {"a", million, 0, false}}, model: "big", baseline: 90, unknown: []string{"a", "z"}},
		{name: "another has none and cost", used: []Used{{"a", million, 5, false}}, model: "big", actual: 5, baseline: 30},
		{name: "tokens of a kind that has no price", used: []Used{{"small", cached, 1, false}}, model: "big", actual: 1, unknown: []string{"big"}},
		{name: "a part of it has no cost", used: []Used{{"small", million, 1, true}, {"small", million, 3, false}}, model: "big", actual: 4, baseline: 60, unknown: []string{"small"}},
		{name: "a part of what is on it has none", used: []Used{{"big", million, 1, true}}, model: "big", actual: 1, baseline: 1, unknown: []string{"big"}},
		{name: "nothing of an unknown one", used: []Used{{"a", Usage{}, 0, false}}, model: "big"},
	} {
		actual, baseline, unknown := AllOn(prices, tt.used, tt.model)
		if math.Abs(actual-tt.actual) > 1e-9 || math.Abs(baseline-tt.baseline) > 1e-9 || !slices.Equal(unknown, tt.unknown) {
			t.Errorf("%s: AllOn = %v, %v, %v, want %v, %v, %v", tt.name, actual, baseline, unknown, tt.actual, tt.baseline, tt.unknown)
		}
	}
}

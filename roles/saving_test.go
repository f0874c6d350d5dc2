package roles

import (
	"math"
	"reflect"
	"testing"
)

// turns are n turns of a session, each of the same size.
func turns(model string, n int64) Used {
	return Used{Model: model, Usage: Usage{Input: 20_000 * n, Output: 800 * n}}
}

// TestSaving holds the arithmetic of routing.
func TestSaving(t *testing.T) {
	t.Parallel()
	prices := func(model string) (Price, bool) {
		p, ok := map[string]Price{
			"big": {Input: 4, Output: 20}, "half": {Input: 2, Output: 10}, "small": {Input: 0.4, Output: 2}, "dear": {Input: 8, Output: 40},
		}[model]
		return p, ok
	}
	for _, tt := range []struct {
		name    string
		used    []Used
		model   string
		saving  float64
		unknown []string
	}{
		// 60 % of the turns on a model of half the price: 0.6 × (1 − 0.5).
		{"six turns in ten on half the price", []Used{turns("half", 6), turns("big", 4)}, "big", 0.3, nil},
		{"six turns in ten on a tenth of it", []Used{turns("small", 6), turns("big", 4)}, "big", 0.54, nil},
		{"nothing elsewhere", []Used{turns("big", 10)}, "big", 0, nil},
		{"dearer ones", []Used{turns("dear", 5), turns("big", 5)}, "big", -0.5, nil},
		{"costs that were reported win", []Used{{"small", turns("", 10).Usage, 0.48, false}}, "big", 0.5, nil},
		{"an unknown model whose cost is known", []Used{{"who", turns("", 10).Usage, 0.48, false}}, "big", 0.5, nil},
	} {
		actual, baseline, unknown := AllOn(prices, tt.used, tt.model)
		saving, ok := Saving(actual, baseline)
		if !ok || math.Abs(saving-tt.saving) > 1e-9 || !reflect.DeepEqual(unknown, tt.unknown) {
			t.Errorf("%s: AllOn = %v, %v, %v: a saving of %v, %t; want %v, %v", tt.name, actual, baseline, unknown, saving, ok, tt.saving, tt.unknown)
		}
	}
	if _, ok := Saving(1, 0); ok {
		t.Error("there is a saving beside nothing")
	}
}

// TestAllOnPrices holds the arithmetic to prices as they are: exploration with
// 60 % of its turns on a small model costs at least 30 % less.
func TestAllOnPrices(t *testing.T) {
	t.Parallel()
	prices := load(t)
	for _, pair := range [][2]string{{"claude-haiku-4-5", "claude-opus-4-5"}, {"gpt-5-mini", "gpt-5"}} {
		actual, baseline, unknown := AllOn(prices.Of, []Used{turns(pair[0], 6), turns(pair[1], 4)}, pair[1])
		if saving, ok := Saving(actual, baseline); !ok || saving < 0.3 || len(unknown) > 0 {
			t.Errorf("60 %% on %s instead of %s: a saving of %v, %t, %v", pair[0], pair[1], saving, ok, unknown)
		}
	}
}

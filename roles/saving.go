package roles

import "slices"

// Used is what was used of a model, and what that cost. The cost is 0 where
// nobody said it.
type Used struct {
	Model   string
	Usage   Usage
	CostUSD float64
	// Part is set where that is the cost of a part of it only.
	Part bool
}

// AllOn compares what was paid with what the same tokens cost where all of them
// are one model's. What is that model's already costs what it did. What has no
// cost is priced, and models that have no price either are unknown, as is the
// one model: with any of them the sums are not both all there is, and say nothing
// about each other. The second is all there is unless the one model is unknown.
func AllOn(prices func(model string) (Price, bool), used []Used, model string) (actual, baseline float64, unknown []string) {
	miss := func(of string) {
		if !slices.Contains(unknown, of) {
			unknown = append(unknown, of)
		}
	}
	cost := func(of string, u Usage) float64 {
		if u == (Usage{}) {
			return 0
		}
		if price, ok := prices(of); ok {
			if usd, ok := price.Cost(u); ok {
				return usd
			}
		}
		miss(of)
		return 0
	}
	for _, u := range used {
		switch {
		case u.CostUSD == 0:
			actual += cost(u.Model, u.Usage)
		case u.Part:
			miss(u.Model)
			fallthrough
		default:
			actual += u.CostUSD
		}
		if u.Model == model && u.CostUSD != 0 {
			baseline += u.CostUSD
		} else {
			baseline += cost(model, u.Usage)
		}
	}
	slices.Sort(unknown)
	return actual, baseline, unknown
}

// Saving is the part of the baseline that was not paid: 0.3 is 30 %, and less
// than 0 is what was paid above it. It is false where there is no baseline.
func Saving(actual, baseline float64) (float64, bool) {
	if baseline <= 0 {
		return 0, false
	}
	return 1 - actual/baseline, true
}

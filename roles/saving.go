package roles

import "slices"

// Used is the usage of a model, and its cost. The cost is 0 if it was not
// reported.
type Used struct {
	Model   string
	Usage   Usage
	CostUSD float64
	// Part is set where that is the cost of a part of it only.
	Part bool
}

// AllOn compares the actual cost with the cost of the same tokens on a single
// model. Usage of that model counts with its reported cost, and other usage
// with the price of the single model. For the actual sum, usage without a
// reported cost is priced.
//
// unknown names the models that have neither a cost nor a price, or whose cost
// is only partial. With an unknown model the sums are incomplete and cannot be
// compared. The baseline is complete unless the single model is unknown.
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

// Saving returns the part of the baseline that was saved: 0.3 is 30 %, and less
// than 0 is an extra cost. It is false if there is no baseline.
func Saving(actual, baseline float64) (float64, bool) {
	if baseline <= 0 {
		return 0, false
	}
	return 1 - actual/baseline, true
}

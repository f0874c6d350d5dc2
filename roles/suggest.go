package roles

import (
	"cmp"
	"slices"
)

// sessionInput and sessionOutput are the shares of a session's tokens that
// prices are compared by: agents read far more than they write.
const (
	sessionInput  = 25
	sessionOutput = 1
)

// weight returns the cost of a typical session at a price.
func (p Price) weight() float64 { return sessionInput*p.Input + sessionOutput*p.Output }

// most is the greatest factor between the prices of a suggested thorough model
// and the model in use.
const most = 3

// Offer is an available model with its price.
type Offer struct {
	Spec  Spec
	Price Price
}

// Suggest returns an available model for a role, beside the model that a person
// uses already. For Smol it costs at most half as much, for Slow it costs more.
// Suggest takes the candidate that is nearest by provider, name and price. It is
// false if there is none: no table says which model is good enough.
func Suggest(role string, beside Offer, offers []Offer) (Offer, bool) {
	base := beside.Price.weight()
	fits := slices.DeleteFunc(slices.Clone(offers), func(o Offer) bool {
		is := o.Price.weight()
		switch role {
		case Smol:
			// A model without a price may run on this machine, and is slow there.
			return !(is > 0 && is <= base/2)
		case Slow:
			return !(is > base && is < most*base)
		default:
			return true
		}
	})
	if len(fits) == 0 {
		return Offer{}, false
	}
	return slices.MaxFunc(fits, func(a, b Offer) int {
		near := cmp.Compare(common(a.Spec.Model, beside.Spec.Model), common(b.Spec.Model, beside.Spec.Model))
		price := cmp.Compare(a.Price.weight(), b.Price.weight())
		if role == Slow {
			price = -price
		}
		return cmp.Or(same(a, beside)-same(b, beside), near, price, cmp.Compare(a.Spec.String(), b.Spec.String()))
	}), true
}

// same returns 1 if two models are of the same provider.
func same(a, b Offer) int {
	if a.Spec.Provider == b.Spec.Provider {
		return 1
	}
	return 0
}

// common is how many bytes two names have in common at their beginning.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

package roles

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// sessionInput and sessionOutput are the shares of a session's tokens that
// prices are compared by: agents read far more than they write.
const (
	sessionInput  = 25
	sessionOutput = 1
)

// weight is what a price comes to in a session.
func (p Price) weight() float64 { return sessionInput*p.Input + sessionOutput*p.Output }

// most is how many times the price of a model one may cost that is suggested for
// a role which is to be thorough.
const most = 3

// Suggest is a model of the same provider for a role, beside the one that a
// person uses already: for Smol one of at most half its price, for Slow one that
// costs more. Of those the nearest by name and price is taken. It is false where
// nothing is known to suggest: which model is good enough no table says.
func (p *Prices) Suggest(role string, beside Spec) (Spec, Price, bool) {
	base, ok := p.Of(Spec{Provider: beside.Provider, Model: beside.Model}.String())
	by := p.seller(beside)
	if !ok || by == nil {
		return Spec{}, Price{}, false
	}
	fits := func(o Price) bool {
		switch role {
		case Smol:
			return o.weight() <= base.weight()/2
		case Slow:
			return o.weight() > base.weight() && o.weight() < most*base.weight()
		default:
			return false
		}
	}
	var names []string
	for name := range maps.Keys(by.Models) {
		if fits(by.Models[name]) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return Spec{}, Price{}, false
	}
	best := slices.MaxFunc(names, func(a, b string) int {
		near := cmp.Compare(common(a, beside.Model), common(b, beside.Model))
		price := cmp.Compare(by.Models[a].weight(), by.Models[b].weight())
		if role == Slow {
			price = -price
		}
		return cmp.Or(near, price, cmp.Compare(a, b))
	})
	return Spec{Provider: by.Name, Model: best}, by.Models[best], true
}

// seller is the provider of the table that has a model.
func (p *Prices) seller(s Spec) *Provider {
	m := suffixes().FindStringSubmatch(strings.ToLower(s.Model))
	if m == nil {
		return nil
	}
	for i, by := range p.providers {
		if _, ok := by.Models[m[1]]; ok && (s.Provider == "" || s.Provider == by.Name) {
			return &p.providers[i]
		}
	}
	return nil
}

// common is how many bytes two names have in common at their beginning.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

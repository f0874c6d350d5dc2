package agent

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Pricer returns the cost of a model's usage in US dollars, and false where the
// price is unknown.
type Pricer func(model string, u task.Usage) (float64, bool)

// Priced is an adapter whose agents' usage has a cost where they report none
// and their model has a price. Such a cost is marked as computed.
func Priced(a Adapter, price Pricer) Adapter { return priced{a, price} }

type priced struct {
	Adapter
	price Pricer
}

// Parser wraps the adapter's own parser.
func (p priced) Parser(spec *Spec) Parser {
	return &pricedParser{Parser: p.Adapter.Parser(spec), price: p.price, model: spec.Model}
}

type pricedParser struct {
	Parser
	price Pricer
	model string // that answers, as far as was told
	// since is the usage reported since the last sum, whose cost a later sum
	// may include.
	since task.Usage
}

// Feed fills in costs.
func (p *pricedParser) Feed(b []byte) []event.Event { return p.fill(p.Parser.Feed(b)) }

// End fills in costs.
func (p *pricedParser) End() []event.Event { return p.fill(p.Parser.End()) }

// Release forwards to the parser, if it has the method.
func (p *pricedParser) Release(most int) int {
	if parser, ok := p.Parser.(releaser); ok {
		return parser.Release(most)
	}
	return 0
}

// Brief forwards to the parser, if it has the method.
func (p *pricedParser) Brief() {
	if parser, ok := p.Parser.(briefer); ok {
		parser.Brief()
	}
}

func (p *pricedParser) fill(events []event.Event) []event.Event {
	for _, e := range events {
		switch e := e.(type) {
		case *event.Session:
			if e.Model != "" {
				p.model = e.Model
			}
		case *event.Spent:
			p.fillOne(e)
		}
	}
	return events
}

// fillOne computes a cost, or subtracts computed costs that a sum includes.
func (p *pricedParser) fillOne(e *event.Spent) {
	if e.CostUSD != 0 {
		if e.Sum {
			e.CostUSD, e.ComputedUSD = e.CostUSD-p.since.ComputedUSD, -p.since.ComputedUSD
			e.UnpricedTokens = -p.since.UnpricedTokens
			p.since = task.Usage{}
		}
		return
	}
	if cost, ok := p.price(p.model, e.Usage); ok {
		e.CostUSD, e.ComputedUSD = cost, cost
	} else {
		e.UnpricedTokens = e.Tokens()
	}
	if p.since.Add(e.Usage); e.Sum {
		p.since = task.Usage{}
	}
}

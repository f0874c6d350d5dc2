package agent

import (
	"agentswarm/swarm/event"
	"agentswarm/swarm/task"
)

// Pricer says what usage of a model costs in US dollars, where that is known.
type Pricer func(model string, u task.Usage) (float64, bool)

// Priced is an adapter whose agents' usage has a cost where they report none
// and their model has a price. Such a cost is marked as computed.
func Priced(a Adapter, price Pricer) Adapter { return priced{a, price} }

type priced struct {
	Adapter
	price Pricer
}

// Parser reads what the adapter's own parser does.
func (p priced) Parser(spec *Spec) Parser {
	return &pricedParser{Parser: p.Adapter.Parser(spec), price: p.price, model: spec.Model}
}

type pricedParser struct {
	Parser
	price Pricer
	model string // that answers, as far as was told
	// since is what was told of since the last sum, of which one may tell the cost.
	since task.Usage
}

// Feed fills in costs.
func (p *pricedParser) Feed(b []byte) []event.Event { return p.fill(p.Parser.Feed(b)) }

// End fills in costs.
func (p *pricedParser) End() []event.Event { return p.fill(p.Parser.End()) }

// Release does what the parser does, if it can.
func (p *pricedParser) Release(most int) int {
	if parser, ok := p.Parser.(releaser); ok {
		return parser.Release(most)
	}
	return 0
}

// Brief does what the parser does, if it can.
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

// fillOne computes a cost, or takes back what was computed of what a sum tells.
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

package config

import (
	"errors"
	"maps"
	"slices"

	"agentswarm/roles"
)

// priceKeys are the keys of a [prices.MODEL] table.
func priceKeys() []key[roles.Price] {
	optional := func(into **float64) func(field) error {
		return func(f field) error {
			var n float64
			*into = &n
			return f.intoAmount(&n)
		}
	}
	return []key[roles.Price]{
		{
			"input", amountShape(), nil, "required", "dollars per million uncached input tokens",
			func(p *roles.Price, f field) error { return f.intoAmount(&p.Input) },
			func(p *roles.Price) any { return p.Input },
		}, {
			"output", amountShape(), nil, "required", "dollars per million output tokens, with reasoning",
			func(p *roles.Price, f field) error { return f.intoAmount(&p.Output) },
			func(p *roles.Price) any { return p.Output },
		}, {
			"cache_read", amountShape(), nil, "unknown", "dollars per million input tokens read from a cache",
			func(p *roles.Price, f field) error { return optional(&p.CacheRead)(f) },
			func(p *roles.Price) any { return known(p.CacheRead) },
		}, {
			"cache_write", amountShape(), nil, "unknown", "dollars per million input tokens written to a cache",
			func(p *roles.Price, f field) error { return optional(&p.CacheWrite)(f) },
			func(p *roles.Price) any { return known(p.CacheWrite) },
		},
	}
}

// known is an amount, or nothing.
func known(amount *float64) any {
	if amount == nil {
		return nil
	}
	return *amount
}

// priceSettings are the prices that the user set.
func (c *Config) priceSettings() []Setting {
	var all []Setting
	for _, model := range slices.Sorted(maps.Keys(c.prices)) {
		price := c.prices[model]
		for _, k := range priceKeys() {
			s := Setting{Table: `prices."` + tomlEscape(model, "") + `"`, Name: k.name, Value: k.value(&price)}
			if s.Value != nil {
				s.Origin = c.origins["prices."+model]
			}
			all = append(all, s)
		}
	}
	return all
}

// mergePrices reads the tables [prices.MODEL]. They count in the user's own
// file only, because the price of agents bounds their spending.
func (c *Config) mergePrices(f field) error {
	models := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		models.keys[name] = func(f field) error { return c.mergePrice(name, f) }
	}
	err := f.table(models)
	if err == nil && f.layer != User && len(f.node.names) > 0 {
		c.ignored = append(c.ignored, &Error{
			File: f.file, Line: f.node.line, Key: f.key,
			Reason: "is ignored: only the user configuration sets prices, not a repository",
		})
	}
	return err
}

func (c *Config) mergePrice(model string, f field) error {
	var p roles.Price
	keys := map[string]reader{}
	given := map[string]bool{}
	for _, k := range priceKeys() {
		keys[k.name] = func(f field) error {
			given[k.name] = true
			return k.read(&p, f)
		}
	}
	if err := f.table(tableKeys{keys: keys}); err != nil {
		return err
	}
	var missing []error
	for _, name := range []string{"input", "output"} {
		if !given[name] {
			missing = append(missing, f.wrong("needs %s, in dollars per million tokens, such as %s = 2.50", name, name))
		}
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	if f.layer == User {
		if c.prices == nil {
			c.prices = map[string]roles.Price{}
		}
		c.prices[model] = p
		c.origins["prices."+model] = f.origin()
	}
	return nil
}

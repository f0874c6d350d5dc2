// Package roles knows models: their names, their prices, and which of them does
// a call.
//
// It owns the table of prices and the lookup of a model's name in it. It owns
// the roles, with the order of the sources that may name a model. It makes no
// requests, guesses nothing and knows no agents: other packages pass a spec to
// an agent.
package roles

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Price is the price of a model, in US dollars per million tokens.
type Price struct {
	Input  float64 `toml:"input" json:"input"`
	Output float64 `toml:"output" json:"output"`
	// CacheRead and CacheWrite are nil where they are not known.
	CacheRead  *float64 `toml:"cache_read" json:"cache_read,omitempty"`
	CacheWrite *float64 `toml:"cache_write" json:"cache_write,omitempty"`
	// MostInput is up to how many tokens of input the price holds; 0 is any
	// number.
	MostInput int64 `toml:"most_input" json:"most_input,omitempty"`
}

// Usage are tokens, each counted once.
type Usage struct{ Input, Output, CacheRead, CacheWrite int64 }

// Cost returns the cost of the usage in US dollars; false if the price does not
// cover all of its tokens.
func (p Price) Cost(u Usage) (float64, bool) {
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 ||
		p.MostInput > 0 && (u.Input > p.MostInput || u.CacheRead > p.MostInput-u.Input || u.CacheWrite > p.MostInput-u.Input-u.CacheRead) {
		return 0, false
	}
	cost := float64(u.Input)*p.Input + float64(u.Output)*p.Output
	for _, part := range []struct {
		tokens int64
		price  *float64
	}{{u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}} {
		switch {
		case part.tokens == 0:
		case part.price == nil:
			return 0, false
		default:
			cost += float64(part.tokens) * *part.price
		}
	}
	return cost / 1e6, true
}

// Provider is who asks a price, and where that was read.
type Provider struct {
	Name   string `toml:"name"`
	Source string `toml:"source"`
	Date   string `toml:"date"` // of the source, as YYYY-MM-DD
	// Aside is set where its models are priced and never suggested.
	Aside  bool             `toml:"aside"`
	Models map[string]Price `toml:"models"`
}

//go:embed prices.toml
var table []byte

// Prices are the prices of models.
type Prices struct {
	providers []Provider
	own       map[string]Price // as somebody set them, by whole names
}

// Load reads the table that this program brings.
func Load() (*Prices, error) {
	var read struct {
		Providers []Provider `toml:"providers"`
	}
	d := toml.NewDecoder(bytes.NewReader(table)).DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return nil, fmt.Errorf("read the table of prices: %w", err)
	}
	return &Prices{providers: read.Providers}, nil
}

// With is the table with prices of somebody's own, by the names that agents
// report. They win.
func (p *Prices) With(own map[string]Price) *Prices {
	return &Prices{providers: p.providers, own: maps.Clone(own)}
}

// Providers are those of the table.
func (p *Prices) Providers() []Provider { return slices.Clone(p.providers) }

// suffixes matches the endings of a name that do not change the price: the
// effort, and the date of the model.
var suffixes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(?:-(?:latest|[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}))?(?::(?:off|none|minimal|low|medium|high|xhigh|max))?$`)
})

// Of returns the price of a model.
//
// A name with a price of the user is looked up as it is, and without its
// effort. Else it may stand behind the name of its own provider and a slash,
// and end in a date or in -latest, and then in a colon and an effort. A
// reseller of models has prices of its own: openrouter/openai/gpt-5 is not
// found.
func (p *Prices) Of(model string) (Price, bool) {
	if own, ok := p.set(model); ok {
		return own, true
	}
	m := suffixes().FindStringSubmatch(strings.ToLower(model))
	if m == nil {
		return Price{}, false
	}
	provider, name, prefixed := strings.Cut(m[1], "/")
	if !prefixed {
		name = m[1]
	}
	for _, by := range p.providers {
		price, ok := by.Models[name]
		if ok && (!prefixed || provider == by.Name) {
			return price, true
		}
	}
	return Price{}, false
}

// set is the price that somebody set for a model.
func (p *Prices) set(model string) (Price, bool) {
	own, ok := p.own[model]
	if !ok && len(p.own) > 0 {
		if spec, err := ParseSpec(model); err == nil {
			spec.Effort = ""
			own, ok = p.own[spec.String()]
		}
	}
	return own, ok
}

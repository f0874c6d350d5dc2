package config

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"agentswarm/roles"
	"agentswarm/swarm/provider"
)

var providerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) })

// modelTable is a [providers.NAME.models.MODEL] table.
type modelTable struct {
	facts provider.Facts
	price roles.Price
	given map[string]bool
}

// providerTable is a [providers.NAME] table.
type providerTable struct {
	provider provider.Provider
	prices   map[string]roles.Price // of its models, by the provider's names
	models   map[string]modelTable
	origin   Origin
}

// providerKeys are the keys of a [providers.NAME] table.
func providerKeys() []key[providerTable] {
	return []key[providerTable]{
		{
			"base_url", urlShape(), nil, "required for an unknown provider", "its endpoint, with `/v1` for chat and responses, without it for anthropic",
			func(p *providerTable, f field) error { return f.intoURL(&p.provider.BaseURL) },
			func(p *providerTable) any { return orUnsetWord(p.provider.BaseURL) },
		}, {
			"api", wordShape(anyOf(provider.APIs())...), nil, "`\"chat\"`; that of the known provider", "its API",
			func(p *providerTable, f field) error { return f.intoWord(&p.provider.API) },
			func(p *providerTable) any { return orUnsetWord(p.provider.API.String()) },
		}, {
			"key_env", variableShape(), nil, "none; that of a known provider with its own `base_url`", "the variable that holds its key",
			func(p *providerTable, f field) error { return f.intoVariable(&p.provider.KeyEnv) },
			func(p *providerTable) any { return orUnsetWord(p.provider.KeyEnv) },
		},
	}
}

// modelKeys are the keys of a [providers.NAME.models.MODEL] table.
func modelKeys() []key[modelTable] {
	all := []key[modelTable]{
		{
			"context_window", wholeShape(1, math.MaxInt), nil, "from the provider or its publication", "tokens of a request",
			func(m *modelTable, f field) error { return f.intoTokens(&m.facts.ContextWindow) },
			func(m *modelTable) any { return orUnsetNumber(m.facts.ContextWindow) },
		}, {
			"max_output", wholeShape(1, math.MaxInt), nil, "from the provider or its publication", "tokens of one answer",
			func(m *modelTable, f field) error { return f.intoTokens(&m.facts.MaxOutput) },
			func(m *modelTable) any { return orUnsetNumber(m.facts.MaxOutput) },
		},
	}
	for _, k := range priceKeys() {
		otherwise := k.otherwise
		if otherwise == "required" {
			otherwise = "unknown"
		}
		all = append(all, key[modelTable]{
			k.name, k.takes, nil, otherwise, k.meaning,
			func(m *modelTable, f field) error { return k.read(&m.price, f) },
			func(m *modelTable) any {
				if !m.given[k.name] {
					return nil
				}
				return k.value(&m.price)
			},
		})
	}
	return all
}

// orUnsetNumber is a number, or nothing where it is 0.
func orUnsetNumber(n int64) any {
	if n == 0 {
		return nil
	}
	return int(n)
}

// Providers are those that the user configured, by their names.
func (c *Config) Providers() map[string]provider.Provider {
	all := map[string]provider.Provider{}
	for name, p := range c.providers {
		is := p.provider
		is.Models = maps.Clone(is.Models)
		all[name] = is
	}
	return all
}

// Prices returns the prices that the user set, by the names of models. Models
// of a provider have the names by which the built-in agent reports them. A
// price of [prices] wins.
func (c *Config) Prices() map[string]roles.Price {
	if len(c.providers) == 0 {
		return maps.Clone(c.prices)
	}
	all := map[string]roles.Price{}
	for name, p := range c.providers {
		for model, price := range p.prices {
			all[name+"/"+model] = price
		}
	}
	maps.Copy(all, c.prices)
	return all
}

// mergeProviders reads the tables [providers.NAME]. They count in the user's own
// file only: a repository must not have a key sent to where it says.
func (c *Config) mergeProviders(f field) error {
	tables := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		tables.keys[name] = func(f field) error { return c.mergeProvider(name, f) }
	}
	err := f.table(tables)
	if err == nil && f.layer != User && len(f.node.names) > 0 {
		c.ignored = append(c.ignored, &Error{
			File: f.file, Line: f.node.line, Key: f.key,
			Reason: "is ignored: where models are asked, and with which key, counts in the user configuration only, and not in a repository",
		})
	}
	return err
}

func (c *Config) mergeProvider(name string, f field) error {
	if !providerName().MatchString(name) {
		return f.wrong("a name holds letters, digits, - _ and ., and does not start with - or .: a slash ends it in PROVIDER/MODEL")
	}
	p := providerTable{origin: f.origin(), prices: map[string]roles.Price{}, models: map[string]modelTable{}}
	keys := map[string]reader{"models": p.readModels}
	for _, k := range providerKeys() {
		keys[k.name] = func(f field) error { return k.read(&p, f) }
	}
	if err := f.table(tableKeys{keys: keys}); err != nil {
		return err
	}
	if p.provider.BaseURL == "" && !slices.Contains(provider.Names(), name) {
		return f.wrong("needs base_url, such as base_url = \"http://127.0.0.1:8080/v1\"%s", didYouMean(name, provider.Names()))
	}
	if f.layer == User {
		if c.providers == nil {
			c.providers = map[string]providerTable{}
		}
		c.providers[name] = p
	}
	return nil
}

// readModels reads the tables of a provider's models.
func (p *providerTable) readModels(f field) error {
	tables := tableKeys{keys: map[string]reader{}}
	for _, name := range f.node.names {
		tables.keys[name] = func(f field) error { return p.readModel(name, f) }
	}
	return f.table(tables)
}

func (p *providerTable) readModel(name string, f field) error {
	m := modelTable{given: map[string]bool{}}
	keys := map[string]reader{}
	for _, k := range modelKeys() {
		keys[k.name] = func(f field) error {
			m.given[k.name] = true
			return k.read(&m, f)
		}
	}
	if err := f.table(tableKeys{keys: keys}); err != nil {
		return err
	}
	priced := false
	for _, k := range priceKeys() {
		priced = priced || m.given[k.name]
	}
	if priced && !(m.given["input"] && m.given["output"]) {
		return f.wrong("has a price of some tokens: it needs input and output, in dollars per million tokens")
	}
	if p.models[name] = m; priced {
		p.prices[name] = m.price
	}
	if p.provider.Models == nil {
		p.provider.Models = map[string]provider.Facts{}
	}
	p.provider.Models[name] = m.facts
	return nil
}

// providerSettings are the providers that the user configured.
func (c *Config) providerSettings() []Setting {
	var all []Setting
	add := func(table, name string, value any, origin Origin) {
		s := Setting{Table: table, Name: name, Value: value}
		if value != nil {
			s.Origin = origin
		}
		all = append(all, s)
	}
	for _, name := range slices.Sorted(maps.Keys(c.providers)) {
		p := c.providers[name]
		table := `providers."` + name + `"`
		for _, k := range providerKeys() {
			add(table, k.name, k.value(&p), p.origin)
		}
		for _, model := range slices.Sorted(maps.Keys(p.models)) {
			m := p.models[model]
			for _, k := range modelKeys() {
				add(table+`.models."`+tomlEscape(model, "")+`"`, k.name, k.value(&m), p.origin)
			}
		}
	}
	return all
}

// intoURL reads the address of a provider.
func (f field) intoURL(to *string) error {
	text, err := f.str()
	if err != nil {
		return err
	}
	if err := provider.CheckURL(text); err != nil {
		return f.wrong("%v", err)
	}
	*to = text
	return nil
}

// intoVariable reads the name of a variable that agents can be given.
func (f field) intoVariable(to *string) error {
	name, err := f.str()
	if err != nil {
		return err
	}
	if !variableName().MatchString(name) || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SWARM_") {
		// It may be the key itself, which is not for messages.
		return f.wrong("is not the name of a variable that agents can get, such as MY_API_KEY; a file must not hold the key itself")
	}
	*to = name
	return nil
}

// intoTokens reads how many tokens there may be.
func (f field) intoTokens(to *int64) error {
	var n int
	if err := f.intoInt(&n, 1, math.MaxInt); err != nil {
		return err
	}
	*to = int64(n)
	return nil
}

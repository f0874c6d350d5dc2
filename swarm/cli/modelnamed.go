package cli

import "fmt"

// modelNamed refuses, before anything starts, agents whose kind has no model of
// its own where nobody names one.
func (p *place) modelNamed(pl *plan) error {
	for _, call := range pl.calls {
		spec := pl.config.Agents[call.Agent]
		if spec == nil || call.Model != "" || spec.Model != "" {
			continue
		}
		kind, known := withProviders(p.env.kinds(), pl.config.Providers).Find(spec.Kind)
		if !known || kind.Unnamed == nil {
			continue
		}
		around := p.env.surroundings()
		getenv := around.Getenv
		around.Getenv = func(name string) string {
			if value, own := spec.Env[name]; own {
				return value
			}
			return getenv(name)
		}
		if hint := kind.Unnamed(around); hint != "" {
			return &UsageError{Text: fmt.Sprintf("agent %s: no model is named", call.Agent), Advice: hint}
		}
	}
	return nil
}

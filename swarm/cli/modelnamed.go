package cli

import (
	"cmp"
	"fmt"
	"strings"
)

// modelNamed refuses, before anything starts, agents whose kind has no model of
// its own where nobody names one, or names one without the provider that is
// asked for it.
func (p *place) modelNamed(pl *plan) error {
	for _, call := range pl.calls {
		spec := pl.config.Agents[call.Agent]
		if spec == nil {
			continue
		}
		kind, known := withProviders(p.env.kinds(), pl.config.Providers).Find(spec.Kind)
		if !known || kind.Unnamed == nil {
			continue
		}
		if model := cmp.Or(call.Model, spec.Model); model != "" {
			if strings.Contains(model, "/") {
				continue
			}
			return &UsageError{
				Text:   fmt.Sprintf("agent %s: model %s: it names no provider", call.Agent, model),
				Advice: "put that before it: PROVIDER/" + model + "; swarm models lists what there is",
			}
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

package cli

import (
	"fmt"
	"slices"
	"strings"

	"agentswarm/roles"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/task"
)

// unpriced are the models of calls that cost money and have no known price: a
// budget in dollars does not bound them. Agents that report their costs need none.
func unpriced(c engine.Config, known map[string]agent.Kind, prices *roles.Prices, calls []*task.Call) (models []string) {
	for _, call := range calls {
		if c.Agents[call.Agent] == nil {
			continue
		}
		spec := engine.SpecOf(c, call)
		kind := known[spec.Kind]
		if !kind.Paid || kind.Reports || spec.Model == "" || slices.Contains(models, spec.Model) {
			continue
		}
		if _, priced := prices.Of(spec.Model); !priced {
			models = append(models, spec.Model)
		}
	}
	return models
}

// unboundedLine tells of models without a price in a run with a budget in
// dollars; empty where the budget bounds all.
func unboundedLine(c engine.Config, known map[string]agent.Kind, calls []*task.Call) (string, error) {
	if c.Budget.USD <= 0 {
		return "", nil
	}
	prices, err := roles.Load()
	if err != nil {
		return "", err
	}
	models := unpriced(c, known, prices.With(c.Prices), calls)
	if len(models) == 0 {
		return "", nil
	}
	return fmt.Sprintf("no price is known for %s, so the budget of %s does not bound them; set [prices] in your configuration",
		Printable(strings.Join(models, ", ")), task.Dollars(c.Budget.USD)), nil
}

package selection

import (
	"slices"

	"agentswarm/swarm/store"
)

// Distinct is a list of agents without those that were named before.
func Distinct(named []*store.Agent) []*store.Agent {
	var all []*store.Agent
	for _, a := range named {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

package selection

import (
	"agentswarm/swarm/store"
	"slices"
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

package runcmd

import (
	"fmt"
	"strings"

	"agentswarm/swarm/config"
)

// ItemKeys names some items.
func ItemKeys(items []config.Item) string {
	var all []string
	for _, i := range items {
		all = append(all, fmt.Sprintf("%s (%s)", i.Key, i.Origin))
	}
	return strings.Join(all, ", ")
}

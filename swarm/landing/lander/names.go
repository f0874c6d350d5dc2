package lander

import (
	"fmt"
	"strings"

	"agentswarm/swarm/engine"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
)

// NoPatch says why an agent has no patch.
func NoPatch(a *store.Agent) string {
	who := fmt.Sprintf("%s (%s)", a.ID, engine.Title(a.ID, a.Call))
	switch {
	case a.Result() == nil:
		return who + " has not ended"
	case a.Attempt == 0:
		return who + " was never started"
	case landing.Uncaptured(a) != nil:
		return fmt.Sprintf("the work of %s could not be captured: %s%s", who, landing.Uncaptured(a).Reason, patch.Earlier(a))
	default:
		return who + " changed nothing" + patch.Earlier(a)
	}
}

// Names names agents for a message.
func Names(agents []*store.Agent) string {
	names := make([]string, 0, len(agents))
	for i, a := range agents {
		if i == 5 && len(agents) > 6 {
			names = append(names, fmt.Sprintf("and %d more", len(agents)-i))
			break
		}
		id := string(a.ID)
		if a.Copy > 0 {
			id = patch.CopyName(a.ID, a.Copy)
		}
		names = append(names, fmt.Sprintf("%s (%s)", id, engine.Title(a.ID, a.Call)))
	}
	return strings.Join(names, ", ")
}

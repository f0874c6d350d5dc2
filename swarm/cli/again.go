package cli

import (
	"fmt"
	"time"

	"agentswarm/swarm/store"
)

// retryObject is why and when an agent is tried again.
type retryObject struct {
	Kind    string    `json:"kind"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// againText says why and when an agent is tried again; empty where it is not.
func againText(again *store.Again) string {
	if again == nil {
		return ""
	}
	return fmt.Sprintf("tries again at %s after %s: %s", again.At.Local().Format(time.TimeOnly), again.Kind, again.Reason)
}

// againNote tells in a line of the agents that wait for another try, and when the
// next of those begins; empty where there are none.
func againNote(v *store.View, now time.Time) string {
	var next *store.Again
	waiting := 0
	for _, a := range v.Agents {
		if a.Again == nil {
			continue
		}
		if waiting++; next == nil || a.Again.At.Before(next.At) {
			next = a.Again
		}
	}
	if next == nil {
		return ""
	}
	return fmt.Sprintf("%s again, the next in %s: %s: %s", Count(waiting, "agent is tried", "agents are tried"),
		Duration(max(0, next.At.Sub(now)).Round(time.Second)), next.Kind, next.Reason)
}

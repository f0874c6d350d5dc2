package cli

import (
	"cmp"
	"fmt"
	"time"

	"agentswarm/swarm/activity"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// retryObject is why and when an agent is tried again.
type retryObject struct {
	Kind    string    `json:"kind"`
	Message string    `json:"message"`
	At      time.Time `json:"at,omitzero"`
}

// againText says why and when an agent is tried again; empty where it is not. A
// time that is not known is left out.
func againText(again *store.Again) string {
	switch {
	case again == nil:
		return ""
	case again.At.IsZero():
		return fmt.Sprintf("tries again after %s: %s", again.Kind, again.Reason)
	}
	return fmt.Sprintf("tries again at %s after %s: %s", again.At.Local().Format(time.TimeOnly), again.Kind, again.Reason)
}

// againNote tells in a line of the agents that wait for another try, of swarm or of
// their own, and when the next of those begins; empty where there are none.
func againNote(v *store.View, doing map[task.ID]activity.Now, now time.Time) string {
	var next *store.Again
	waiting := 0
	for _, a := range v.Agents {
		again := cmp.Or(a.NextTry(), doing[a.ID].Again)
		if again == nil {
			continue
		}
		if waiting++; next == nil || again.At.Before(next.At) {
			next = again
		}
	}
	if next == nil {
		return ""
	}
	return fmt.Sprintf("%s again, the next in %s: %s: %s", Count(waiting, "agent is tried", "agents are tried"),
		Duration(max(0, next.At.Sub(now)).Round(time.Second)), next.Kind, next.Reason)
}

// addRetries notes the retries that live agents make by themselves, which find
// reads from their output: they are not in the journal.
func addRetries(v *store.View, find func(*store.Agent) *store.Again) {
	for _, a := range v.Agents {
		a.Retrying = nil
		if v.Status == store.RunRunning {
			a.Retrying = find(a)
		}
	}
}

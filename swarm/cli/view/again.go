package view

import (
	"cmp"
	"fmt"
	"time"

	"agentswarm/internal/termtext"
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

// AgainText returns why and when an agent is tried again, without an unknown time. It returns
// an empty text for an agent that is not.
func AgainText(again *store.Again) string {
	switch {
	case again == nil:
		return ""
	case again.At.IsZero():
		return fmt.Sprintf("tries again after %s: %s", again.Kind, again.Reason)
	}
	return fmt.Sprintf("tries again at %s after %s: %s", again.At.Local().Format(time.TimeOnly), again.Kind, again.Reason)
}

// AgainNote returns a line about the agents that wait for another try, with the time of the next.
// It returns an empty text if none waits.
func AgainNote(v *store.View, doing map[task.ID]activity.Now, now time.Time) string {
	var next *store.Again
	waiting := 0
	for _, a := range v.Agents {
		again := cmp.Or(a.NextTry(), doing[a.ID].Again)
		if again == nil {
			continue
		}
		if waiting++; next == nil || sooner(again.At, next.At) {
			next = again
		}
	}
	if next == nil {
		return ""
	}
	when := ""
	if !next.At.IsZero() {
		when = fmt.Sprintf(", the next in %s", termtext.Duration(max(0, next.At.Sub(now)).Round(time.Second)))
	}
	return fmt.Sprintf("%s again%s: %s: %s", termtext.Count(waiting, "agent is tried", "agents are tried"), when, next.Kind, next.Reason)
}

// sooner reports whether a time is before another time. An unknown time, which
// is zero, comes last.
func sooner(at, other time.Time) bool {
	return !at.IsZero() && (other.IsZero() || at.Before(other))
}

// AddRetries notes the retries that live agents make by themselves, which find
// reads from their output: they are not in the journal.
func AddRetries(v *store.View, find func(*store.Agent) *store.Again) {
	for _, a := range v.Agents {
		a.Retrying = nil
		if v.Status == store.RunRunning {
			a.Retrying = find(a)
		}
	}
}

package copies

import (
	"errors"
	"testing"

	"agentswarm/swarm/store"
)

// TestSourceOfUncaptured names the reason that there is no work to copy.
func TestSourceOfUncaptured(t *testing.T) {
	t.Parallel()
	for attempt, want := range map[int]string{
		0: "a1 has no workspace: it never began", 1: "a1 has no workspace: what it left was not captured",
	} {
		_, err := SourceOf(nil, &store.Agent{ID: "a1", Attempt: attempt})
		if _, ok := errors.AsType[*UncapturedError](err); !ok || err.Error() != want {
			t.Errorf("SourceOf after %d attempts = %v, want %q", attempt, err, want)
		}
	}
}

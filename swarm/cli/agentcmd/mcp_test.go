package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"agentswarm/swarm/cli/runcmd"
	"agentswarm/swarm/event"
	"agentswarm/swarm/mcp"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
)

// TestAbandoned holds which stopped runs dispatch_wait goes on with. The text of
// a reason decides nothing: people write such texts, too.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	left := mcp.ErrClientLeft
	for _, tt := range []struct {
		name       string
		dispatched bool
		cause      error // of the stop; nil: there was none
		died       bool
		want       bool
	}{
		{"its client left", true, fmt.Errorf("session: %w", left), false, true},
		{"its process died", true, nil, true, true},
		{"its process died, and it was recovered", true, nil, false, true},
		{"dispatch_cancel stopped it, and its process died", true, mcp.ErrCancelled, true, false},
		{"somebody stopped it, with the words of a death", true, errors.New(store.ReasonDied), false, false},
		{"its client left, and its process died", true, left, true, true},
		{"somebody stopped it, with those words", true, errors.New(left.Error()), false, false},
		{"dispatch_cancel stopped it", true, mcp.ErrCancelled, false, false},
		{"it was not dispatched", false, left, false, false},
	} {
		records := []event.Record{{N: 1, Event: &event.Opened{}}}
		reason := store.ReasonDied
		if tt.cause != nil {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(tt.cause)
			h := runcmd.HaltFor(ctx)
			if h.Cause != task.CauseStopped {
				t.Errorf("%s: the cause is %s", tt.name, h.Cause)
			}
			reason = h.Reason
			records = append(records, event.Record{N: 2, Event: &event.CancelAsked{Cause: h.Cause, Reason: h.Reason, Abandoned: h.Abandoned}})
		}
		records = append(records, event.Record{N: 3, Event: &event.Closed{Status: string(store.RunStopped), Reason: reason}})
		v := store.Fold(store.Identity{Workflow: store.Workflow{Kind: store.WorkflowScript, Text: fmt.Sprintf(`{"dispatched":%v}`, tt.dispatched)}}, records)
		v.Died = tt.died
		if got := abandoned(v); got != tt.want {
			t.Errorf("%s: abandoned = %v, want %v", tt.name, got, tt.want)
		}
	}
}

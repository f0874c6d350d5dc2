package builtin

import (
	"context"
	"errors"
	"fmt"

	"agentswarm/swarm/ask"
)

// Socket is the gate of an agent of a run: the run is asked.
type Socket struct{ Path string }

// Pass asks, for as long as it takes.
func (s *Socket) Pass(ctx context.Context, a ask.Action) error {
	answer, err := ask.Ask(ctx, s.Path, ask.Request{Actions: []ask.Action{a}})
	switch {
	case err != nil:
		return fmt.Errorf("no person can be asked: %w", err)
	case answer.Allow:
		return nil
	}
	reason := orElse(answer.Reason, "it may not be")
	if answer.Instead != "" {
		reason += ". Instead: " + answer.Instead
	}
	return errors.New(reason)
}

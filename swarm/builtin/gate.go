package builtin

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"agentswarm/swarm/ask"
)

// Socket is the gate of an agent of a run: the run is asked.
type Socket struct{ Path string }

// Pass asks, for as long as it takes.
func (s *Socket) Pass(ctx context.Context, a ask.Action) error {
	answer, err := ask.Ask(ctx, s.Path, ask.Request{Actions: []ask.Action{a}})
	switch {
	case err != nil:
		return fmt.Errorf("nobody can be asked: %w", err)
	case answer.Allow:
		return nil
	}
	reason := orElse(answer.Reason, "it may not be")
	if answer.Instead != "" {
		reason += ". Instead: " + answer.Instead
	}
	return errors.New(reason)
}

// cutText is the begin of a text, at most so many bytes of it.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

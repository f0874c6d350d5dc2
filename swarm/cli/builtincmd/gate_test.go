package builtincmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"agentswarm/swarm/cli/cmdline"
)

// TestGateAfterTheEnd checks that an answer after the agent's stop allows
// nothing.
func TestGateAfterTheEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for range 20 {
		g := &personGate{
			env: cmdline.Env{Stderr: io.Discard}, in: bufio.NewReader(strings.NewReader("")), answers: make(chan personAnswer, 1), reading: true,
		}
		g.answers <- personAnswer{"y\n", nil}
		if got, err := g.answer(ctx); !errors.Is(err, why) {
			t.Fatalf("answer = %q, %v, want the cause", got, err)
		}
	}
}

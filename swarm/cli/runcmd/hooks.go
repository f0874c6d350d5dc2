package runcmd

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/script"
	"agentswarm/swarm/script/process"
)

// hooks are the functions of a script that watch over agents. They have a
// process of their own, so that an effect on their virtual machine reaches no
// other code. The first call of a function starts the process, and so does the
// first call after a lost process. Functions take turns.
type hooks struct {
	self string
	turn chan struct{}       // full during a call of a function
	at   *script.HooksRemote // nil where there is none; belongs to the turn
}

// newHooks are those of a run's agents.
func newHooks(b *session.Session) (*hooks, error) {
	self, err := b.Binary(b.Env.Self)
	return &hooks{self: self, turn: make(chan struct{}, 1)}, err
}

// hookTime limits a call of the functions' process and its start, which a busy
// machine may delay. A function has much less time. A step that cannot be
// interrupted ends with the process.
const hookTime = 10 * time.Second

// Decide calls a function with a value, and returns its result. The wait for
// its turn does not count. It calls a function that was too slow once more: a
// loaded machine is not the function's fault.
func (h *hooks) Decide(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil { // a turn that was free as well begins nothing
		return nil, context.Cause(ctx)
	}
	value, err := h.ask(ctx, source, input)
	var late *script.Error
	if errors.As(err, &late) && late.Code == script.CodeTimeout {
		value, err = h.ask(ctx, source, input)
	}
	return value, err
}

// ask asks once. The caller holds the turn.
func (h *hooks) ask(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error) {
	if h.at == nil {
		conn, err := process.Start(h.self)
		if err != nil {
			return nil, err
		}
		if h.at, err = script.NewHooksRemote(conn); err != nil {
			h.at = nil
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	value, err := h.at.Decide(ctx, source, input)
	var told *script.Error
	if ctx.Err() != nil || errors.As(err, &told) && told.Code == script.CodeRunaway {
		err = errors.Join(err, h.at.Close())
		h.at = nil
	}
	return value, err
}

// close ends the process, if it runs, after the last call.
func (h *hooks) close() error {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.at == nil {
		return nil
	}
	at := h.at
	h.at = nil
	return at.Close()
}

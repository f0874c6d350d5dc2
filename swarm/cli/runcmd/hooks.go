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

// hooks are the functions of a script that watch over agents, in a process of
// their own: what they do to their machine they do to nobody else. The process
// is started when a function is asked first, and again after one that was
// lost. Functions take turns.
type hooks struct {
	self string
	turn chan struct{}       // holds one while a function is asked
	at   *script.HooksRemote // nil where there is none; belongs to the turn
}

// newHooks are those of a run's agents.
func newHooks(b *session.Session) (*hooks, error) {
	self, err := b.Binary(b.Env.Self)
	return &hooks{self: self, turn: make(chan struct{}, 1)}, err
}

// hookTime is how long the process of the functions may take, its start with
// it, which a busy machine may hold up. A function has much less; what it cannot
// be interrupted in ends with the process.
const hookTime = 10 * time.Second

// Decide calls a function with a value, and returns what it returned. How long
// it waits for its turn does not count. A function that was too slow is asked
// once more: a loaded machine is not its fault.
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

// ask asks once. Whoever holds the turn may call it.
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

// close ends the process, if there is one, once nobody asks any more.
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

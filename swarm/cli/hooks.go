package cli

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"agentswarm/swarm/script"
)

// hooks are the functions of a script that watch over agents, in a process of
// their own: what they do to their machine they do to nobody else. The process
// is started when a function is asked first, and again after one that was
// lost.
type hooks struct {
	self string

	mu sync.Mutex // guards at
	at *script.HooksRemote
}

// hooks are those of a run's agents.
func (b *bench) hooks() (*hooks, error) {
	self, err := b.self()
	return &hooks{self: self}, err
}

// hookTime is how long the process of the functions may take. A function has
// much less; what it cannot be interrupted in ends with the process.
const hookTime = 2 * time.Second

// Decide calls a function with a value, and returns what it returned.
func (h *hooks) Decide(ctx context.Context, source string, input json.RawMessage) (json.RawMessage, error) {
	at, err := h.open()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	value, err := at.Decide(ctx, source, input)
	var told *script.Error
	if ctx.Err() != nil || errors.As(err, &told) && told.Code == script.CodeRunaway {
		return nil, errors.Join(err, h.drop(at))
	}
	return value, err
}

func (h *hooks) open() (*script.HooksRemote, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at != nil {
		return h.at, nil
	}
	conn, err := machine(h.self)
	if err != nil {
		return nil, err
	}
	h.at, err = script.NewHooksRemote(conn)
	return h.at, err
}

// drop ends a process that is of no more use.
func (h *hooks) drop(at *script.HooksRemote) error {
	h.mu.Lock()
	if h.at == at {
		h.at = nil
	}
	h.mu.Unlock()
	return at.Close()
}

// close ends the process, if there is one.
func (h *hooks) close() error {
	h.mu.Lock()
	at := h.at
	h.at = nil
	h.mu.Unlock()
	if at == nil {
		return nil
	}
	return at.Close()
}

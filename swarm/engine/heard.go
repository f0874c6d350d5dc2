package engine

import (
	"sync"

	"agentswarm/swarm/event"
)

// heard are the hooks that wait for the answer to a question.
type heard struct {
	mu sync.Mutex // guards of
	of map[string]chan<- *event.Replied
}

func (h *heard) wait(id string, answer chan<- *event.Replied) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[string]chan<- *event.Replied{}
	}
	h.of[id] = answer
}

// waits reports whether a hook waits for the answer to a question.
func (h *heard) waits(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.of[id]
	return ok
}

// deliver passes an answer on, once, and reports whether a hook waits for it.
func (h *heard) deliver(id string, r *event.Replied) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	answer, ok := h.of[id]
	if ok {
		delete(h.of, id)
		answer <- r // there is room for it
	}
	return ok
}

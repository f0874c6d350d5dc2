package agent

import (
	"sync"

	"agentswarm/swarm/proc"
)

// stdin writes to an agent's open stdin from a goroutine of its own, so that
// an agent that does not read holds up nobody who must be able to end it.
type stdin struct {
	queue chan []byte
	done  sync.WaitGroup

	mu     sync.Mutex // guards closed, and the queue against a send after its end
	closed bool
}

// stdinQueue is how many messages may wait. An agent gets its prompt, an
// answer for each of its questions, words that people send, and the end; one
// that asks faster than it reads loses answers, not our memory.
const stdinQueue = 16

func openStdin(p *proc.Process) *stdin {
	s := &stdin{queue: make(chan []byte, stdinQueue)}
	s.done.Go(func() {
		for message := range s.queue {
			// An agent that closed its stdin says what it means by how it
			// ends.
			if p.Write(message) != nil {
				break
			}
		}
		_ = p.CloseStdin() // gone already is as good as closed
	})
	return s
}

// send queues a message and reports whether it could: not after close, nor
// where too many wait.
func (s *stdin) send(message []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(message) == 0 {
		return false
	}
	select {
	case s.queue <- message:
		return true
	default:
		return false
	}
}

func (s *stdin) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
}

// wait returns when the writer is gone; the process must be over.
func (s *stdin) wait() { s.done.Wait() }

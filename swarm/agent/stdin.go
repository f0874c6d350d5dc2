package agent

import (
	"sync"

	"agentswarm/swarm/proc"
)

// stdin writes to an agent's open stdin from a goroutine of its own. So an
// agent that does not read cannot block the goroutine that must end it.
type stdin struct {
	done sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	news   *sync.Cond // of mu: something was queued, or closed
	queue  [][]byte
	size   int // bytes in the queue
	closed bool
}

// stdinQueue is the limit of queued bytes. An agent gets its prompt, an answer
// for each of its questions, messages of people, and the end. An agent that
// asks thousands of questions and reads later gets all answers. An agent that
// never reads loses them, and does not fill the memory.
const stdinQueue = 4 << 20

func openStdin(p *proc.Process) *stdin {
	s := &stdin{}
	s.news = sync.NewCond(&s.mu)
	s.done.Go(func() {
		for message := s.next(); message != nil; message = s.next() {
			// An agent that closed its stdin reports its result by its exit
			// status.
			if p.Write(message) != nil {
				break
			}
		}
		s.close()
		_ = p.CloseStdin() // gone already is as good as closed
	})
	return s
}

// next waits for a message; nil is the end.
func (s *stdin) next() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.news.Wait()
	}
	if len(s.queue) == 0 {
		return nil
	}
	message := s.queue[0]
	s.queue[0], s.queue = nil, s.queue[1:]
	s.size -= len(message)
	return message
}

// send queues a message and reports whether it could: not after close, nor if
// the queue is full. A single message always fits.
func (s *stdin) send(message []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(message) == 0 || s.size > 0 && s.size+len(message) > stdinQueue {
		return false
	}
	s.queue, s.size = append(s.queue, message), s.size+len(message)
	s.news.Signal()
	return true
}

// close lets the writer finish the queued messages and then closes the stdin.
func (s *stdin) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.news.Signal()
}

// wait returns when the writer is gone; the process must be over.
func (s *stdin) wait() { s.done.Wait() }

package engine

import "sync"

// supervisors are the processes that stand between swarm and its agents.
// Their descendants belong to agents, and may not decide anything.
type supervisors struct {
	mu sync.Mutex // guards pids
	// pids counts them: an ended supervisor stays here as long as its attempt
	// does. The supervisor of another attempt may get the same pid meanwhile.
	pids map[int]int
}

func (s *supervisors) add(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[int]int{}
	}
	s.pids[pid]++
}

func (s *supervisors) remove(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids[pid]--; s.pids[pid] <= 0 {
		delete(s.pids, pid)
	}
}

func (s *supervisors) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pids[pid] > 0
}

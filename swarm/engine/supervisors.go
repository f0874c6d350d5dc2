package engine

import "sync"

// supervisors are the processes that stand between swarm and its agents.
// What descends from one is an agent's, and may not decide anything.
type supervisors struct {
	mu   sync.Mutex // guards pids
	pids map[int]bool
}

func (s *supervisors) add(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pids == nil {
		s.pids = map[int]bool{}
	}
	s.pids[pid] = true
}

func (s *supervisors) remove(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pids, pid)
}

func (s *supervisors) has(pid int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pids[pid]
}

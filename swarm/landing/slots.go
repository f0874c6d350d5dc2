package landing

import (
	"sync"
	"time"
)

// Machine is where checks run.
type Machine struct {
	Processors int
	Memory     int64 // bytes that new programs can take
}

// Load is the resources that a run of a check used.
type Load struct {
	CPU, Wall time.Duration
	MaxRSS    int64 // bytes, of its largest process
}

// memoryShare is the part of the memory that checks may take. The rest is for programs
// that start meanwhile.
const memoryShare = 0.75

// Slots finds how many checks can run at the same time without slowing each other down.
// It can be used by several goroutines.
type Slots struct {
	Machine Machine // required

	mu    sync.Mutex // guards the fields below
	share float64    // processors that the busiest run kept busy
	peak  float64    // bytes that the largest run took, as far as known
}

// Learn notes a run. Each process of it is taken to be as large as the largest, and there
// are as many as it kept processors busy.
func (s *Slots) Learn(l Load) {
	if l.Wall <= 0 {
		return
	}
	share := float64(l.CPU) / float64(l.Wall)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share = max(s.share, share)
	s.peak = max(s.peak, float64(l.MaxRSS)*max(1, share))
}

// Count is the number of slots: 1 before the first run, and never more than there are
// processors.
func (s *Slots) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.share <= 0 {
		return 1
	}
	n := min(float64(s.Machine.Processors), float64(s.Machine.Processors)/s.share)
	if s.peak > 0 && s.Machine.Memory > 0 {
		n = min(n, memoryShare*float64(s.Machine.Memory)/s.peak)
	}
	return max(1, int(n))
}

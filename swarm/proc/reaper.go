package proc

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// errEnded answers a visit that comes when the agent has ended.
var errEnded = errors.New("the agent has ended")

// reaper alone waits for children. It starts after the agent did, so that it
// cannot take a status whose owner is not known yet: until then a dead agent
// stays a zombie.
type reaper struct {
	agent  int
	ended  chan syscall.WaitStatus // gets the agent's status, once
	empty  chan struct{}           // closed when no child is left
	armed  atomic.Bool             // count from now on
	killed atomic.Int64            // others that died of SIGKILL since

	mu       sync.Mutex // guards the fields below; held while a visitor is started
	visitors map[int]chan<- syscall.WaitStatus
	guests   map[int]bool  // others who are not to be counted, once they are dead
	over     bool          // the agent has ended: no visitor is started any more
	cpu      time.Duration // of all that was waited for, but for visitors
	rss      int64         // bytes, of the largest of these
}

func newReaper(agent int) *reaper {
	return &reaper{
		agent: agent,
		ended: make(chan syscall.WaitStatus, 1), empty: make(chan struct{}),
		visitors: map[int]chan<- syscall.WaitStatus{}, guests: map[int]bool{},
	}
}

// run waits until there are no children. For the first process of a PID
// namespace, and for a subreaper, that means no descendants either.
func (r *reaper) run() {
	defer close(r.empty)
	var status, agents syscall.WaitStatus
	pending := false // the agent has ended, and its waiter was not told
	for {
		options := 0
		if pending {
			options = syscall.WNOHANG
		}
		var use syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, options, &use)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			if pending {
				r.ended <- agents
			}
			return
		case pid == 0: // Living children are left.
			r.ended <- agents
			pending = false
		case r.bury(pid, status, &use):
			agents, pending = status, true
		}
	}
}

// bury records that a child has ended, and reports whether it was the agent. A
// visitor's status goes to its waiter. The lock is held while a visitor is
// started, so its number is known here.
func (r *reaper) bury(pid int, status syscall.WaitStatus, use *syscall.Rusage) (agent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits, ok := r.visitors[pid]; ok {
		delete(r.visitors, pid)
		waits <- status
		return false
	}
	if r.guests[pid] {
		delete(r.guests, pid)
		return false
	}
	r.cpu += time.Duration(use.Utime.Nano() + use.Stime.Nano())
	r.rss = max(r.rss, maxRSS(use))
	if pid == r.agent {
		r.over = true
		return true
	}
	if r.armed.Load() && status.Signaled() && status.Signal() == syscall.SIGKILL {
		r.killed.Add(1)
	}
	return false
}

// admit starts a visitor, whose status goes to the channel, which must have a
// place for it.
func (r *reaper) admit(start func() (pid int, err error), ended chan<- syscall.WaitStatus) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return 0, errEnded
	}
	pid, err := start()
	if err == nil {
		r.visitors[pid] = ended
	}
	return pid, err
}

// disregard keeps those that a visitor had started, and that were killed with
// it, from being counted when they are waited for.
func (r *reaper) disregard(killed map[who]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range killed {
		if _, leader := r.visitors[id.pid]; !leader {
			r.guests[id.pid] = true
		}
	}
}

// signal signals the group of a visitor that has not been waited for yet.
func (r *reaper) signal(pid int, sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, waits := r.visitors[pid]; waits {
		_ = syscall.Kill(-pid, sig) // a group that is gone needs none
	}
}

// used is the usage of all children waited for, except visitors.
func (r *reaper) used() (cpu time.Duration, rss int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cpu, r.rss
}

// alone reports whether no child is left.
func (r *reaper) alone() bool {
	select {
	case <-r.empty:
		return true
	default:
		return false
	}
}

package proc

import (
	"errors"
	"sync/atomic"
	"syscall"
)

// reaper is the only one who waits for children. It starts after the agent
// did, so that it cannot take a status whose owner is not known yet: until
// then a dead agent stays a zombie.
type reaper struct {
	agent  int
	ended  chan syscall.WaitStatus // gets the agent's status, once
	empty  chan struct{}           // closed when no child is left
	armed  atomic.Bool             // count from now on
	killed atomic.Int64            // others that died of SIGKILL since
}

func newReaper(agent int) *reaper {
	return &reaper{
		agent: agent,
		ended: make(chan syscall.WaitStatus, 1), empty: make(chan struct{}),
	}
}

// run waits until there are no children. For the first process of a PID
// namespace, and for a subreaper, that means no descendants either.
func (r *reaper) run() {
	defer close(r.empty)
	var status, agents syscall.WaitStatus
	pending := false // the agent has ended, and nobody was told
	for {
		options := 0
		if pending {
			options = syscall.WNOHANG
		}
		pid, err := syscall.Wait4(-1, &status, options, nil)
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
		case pid == r.agent:
			agents, pending = status, true
		case r.armed.Load() && status.Signaled() &&
			status.Signal() == syscall.SIGKILL:
			r.killed.Add(1)
		}
	}
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

package proc

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// family is everything below this supervisor, and the ways to end it.
type family struct {
	reaper *reaper
	line   *lineage

	hunted  map[who]bool // killed singly, without the agent
	escaped int          // of another user
	err     error        // of the last kill
}

// claim makes this process answer for all that will descend from it.
func claim(tag uint64) error {
	if err := mark(tag); err != nil {
		return err
	}
	if first() {
		return nil
	}
	return adopt()
}

// first reports whether this is the first process of a PID namespace. There the
// kernel itself ends all processes, and kills them on a single call.
func first() bool { return os.Getpid() == 1 }

func newFamily(r *reaper) *family {
	return &family{
		reaper: r, line: &lineage{below: os.Getpid()}, hunted: map[who]bool{},
	}
}

// kill ends everything below this process, once or, if need be, again.
func (f *family) kill() {
	f.reaper.armed.Store(true)
	if first() {
		// The signal reaches all processes at the same time, so that none can
		// fork away.
		err := syscall.Kill(-1, syscall.SIGKILL)
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			f.err = err
		}
		return
	}
	killed, escaped, err := f.line.hunt(nil)
	f.count(killed)
	f.escaped, f.err = escaped, err
}

// count adds the killed to hunted. A process can be in two hunts: the kernel
// may leave it out of a list of children while it dies, which ends the first.
func (f *family) count(killed map[who]bool) {
	for id := range killed {
		if id.pid != f.reaper.agent {
			f.hunted[id] = true
		}
	}
}

// complete reports whether nothing but the agent, which has ended, was there.
func (f *family) complete() bool { return orphansStay && f.reaper.alone() }

// left counts the processes that had to be killed, without the agent.
func (f *family) left() int {
	if first() {
		return int(f.reaper.killed.Load())
	}
	return len(f.hunted)
}

// remember keeps an eye on the family where orphans leave it, until over.
func (f *family) remember(over <-chan struct{}) {
	if orphansStay {
		return
	}
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// A look that fails is repeated soon, and kill tells the error.
			_, _ = f.line.members()
		case <-over:
			return
		}
	}
}

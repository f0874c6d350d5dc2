package proc

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// process is a row of the system's process table.
type process struct {
	pid, parent, group int
	start              uint64 // with pid, who it is: numbers are used again
	dead               bool   // it has not been waited for yet
}

// who identifies a process for good.
type who struct {
	pid   int
	start uint64
}

func (p process) who() who { return who{p.pid, p.start} }

// lineage says which processes belong together, for those cases where no
// namespace does.
type lineage struct {
	below  int               // descendants of this process, if not 0
	heads  map[who]bool      // these and their descendants
	marked func(uint64) bool // those whose tag it accepts, and descendants

	mu    sync.Mutex // guards known
	known map[who]bool
}

// members looks for all living members. A process that was seen once stays a
// member when its parent dies.
func (l *lineage) members() (map[who]process, error) {
	read := processes
	if l.below != 0 {
		read = func() ([]process, error) { return descendants(l.below) }
	}
	table, err := read()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[who]bool{}
	}
	children := map[int][]process{}
	var open []process
	for _, p := range table {
		children[p.parent] = append(children[p.parent], p)
		if l.known[p.who()] || l.heads[p.who()] ||
			l.below != 0 && p.parent == l.below ||
			l.marked != nil && l.marked(tagOf(p.pid)) {
			open = append(open, p)
		}
	}
	found := map[who]process{}
	for self := os.Getpid(); len(open) > 0; {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		if _, twice := found[p.who()]; twice || p.pid == self {
			continue
		}
		found[p.who()] = p
		open = append(open, children[p.pid]...)
	}
	clear(l.known) // a process that is gone cannot come back
	for id, p := range found {
		l.known[id] = true
		if p.dead {
			delete(found, id)
		}
	}
	return found, nil
}

// hunt kills all members, until none is left or done is closed. It returns
// whom it killed, and how many it may not kill, being another user's.
func (l *lineage) hunt(done <-chan struct{}) (dead map[who]bool, escaped int, err error) {
	dead = map[who]bool{}
	foreign := map[who]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		prey, err := l.freeze(foreign)
		if err != nil || len(prey) == 0 {
			return dead, len(foreign), err
		}
		for id, p := range prey {
			// It stands still, so if this fails its group's signal was first.
			_ = send(p, syscall.SIGKILL)
			sendGroup(p, syscall.SIGKILL)
			dead[id] = true
		}
		select {
		case <-time.After(pause):
		case <-done:
			return dead, len(foreign), errors.New(
				"processes were left: not all of them died in time")
		}
	}
}

// freeze stops all members, so that none forks or flees before it is killed. It
// gives up after a while: the next round finds a process that forks faster than
// the table can be read.
func (l *lineage) freeze(foreign map[who]bool) (map[who]process, error) {
	const rounds = 10
	still := map[who]process{}
	for range rounds {
		found, err := l.members()
		if err != nil {
			return nil, err
		}
		fresh := false
		for id, p := range found {
			if _, stopped := still[id]; stopped || foreign[id] {
				continue
			}
			switch err := send(p, syscall.SIGSTOP); {
			case errors.Is(err, syscall.EPERM):
				foreign[id] = true
			case err == nil:
				sendGroup(p, syscall.SIGSTOP)
				still[id] = p
				fresh = true
			}
		}
		if !fresh {
			break
		}
	}
	return still, nil
}

// sendGroup signals a member's whole group at the same moment, which a chain of
// forks cannot outrun. The group is ours: a supervisor and its agent lead
// sessions of their own, and a group never spans two sessions. A strange
// process could have the number only if all numbers were used up within
// microseconds.
func sendGroup(p process, sig syscall.Signal) {
	if p.group > 1 && p.group != syscall.Getpgrp() {
		_ = syscall.Kill(-p.group, sig) // Its members are also killed singly.
	}
}

package proc

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"syscall"
)

// A tag is a number that a supervisor leaves on all its descendants, on systems
// with a place for it. Its upper half stands for the run, its lower half for
// the supervisor and, in the last bits, a visit.
const (
	tagMagic = 1 << 62
	tagRun   = 1<<62 | 0x3fffffff<<32
	tagVisit = 1<<6 - 1 // which visit of a supervisor's; 0 is the agent
)

// runTag is the part of a tag that all supervisors of a run have in common.
func runTag(run string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run)) // A hash never fails.
	return tagMagic | uint64(h.Sum32()&0x3fffffff)<<32
}

func newTag(run string) uint64 { return runTag(run) | uint64(rand.Uint32()&^tagVisit) }

// ofSupervisor reports whether a tag belongs to a supervisor, or to any of its
// visits.
func ofSupervisor(tag, supervisor uint64) bool { return tag&^tagVisit == supervisor&^tagVisit }

// isTag tells a tag from a limit that somebody has set.
func isTag(tag uint64) bool { return tag&tagMagic != 0 && tag>>63 == 0 }

// Supervised reports whether this process descends from a supervisor of the
// run. Only Linux has the mark that says so; elsewhere it never does.
func Supervised(run string) bool { return ofRun(ownTag(), run) }

// SupervisedAt reports the same of the process with a number.
func SupervisedAt(pid int, run string) bool { return ofRun(tagOf(pid), run) }

// ofRun reports whether a tag belongs to any supervisor of a run, or to its
// visits.
func ofRun(tag uint64, run string) bool {
	return tag&tagRun == runTag(run) && tag>>63 == 0
}

// Alive reports whether the process that Started described is still there.
func Alive(pid int, start uint64) bool {
	p, ok := look(pid)
	return ok && p.start == start && !p.dead
}

// KillOrphan kills a supervisor that Started described, and all that it
// runs, after a crash of its engine. A process that has taken its number is
// left alone. It returns how many it killed, when they are gone.
func KillOrphan(ctx context.Context, pid int, start uint64) (int, error) {
	if !Alive(pid, start) {
		return 0, nil
	}
	l := &lineage{heads: map[who]bool{{pid, start}: true}}
	if tag := tagOf(pid); isTag(tag) {
		l.marked = func(t uint64) bool { return ofSupervisor(t, tag) }
	}
	return l.end(ctx, fmt.Sprintf("kill supervisor %d", pid))
}

// Sweep kills the processes of a run whose engine and supervisors are dead, and
// returns their number when they are gone. Only Linux has a mark that survives
// supervisors; elsewhere it finds nothing. It returns an error if no run is
// named, if the hunt fails, or if processes belong to another user.
func Sweep(ctx context.Context, run string) (int, error) {
	if run == "" {
		return 0, errors.New("sweep a run: no run is named")
	}
	l := &lineage{marked: func(t uint64) bool { return ofRun(t, run) }}
	return l.end(ctx, "sweep run "+run)
}

// end hunts within a context; its errors begin with doing.
func (l *lineage) end(ctx context.Context, doing string) (int, error) {
	killed, escaped, err := l.hunt(ctx.Done())
	switch {
	case err != nil:
		return len(killed), fmt.Errorf("%s: %w", doing, err)
	case escaped > 0:
		return len(killed), fmt.Errorf("%s: %d processes belong to another user",
			doing, escaped)
	}
	return len(killed), nil
}

// EndChildren kills each child that this process has not waited for, with its
// group. It serves a process that is about to exit at once: a git, and the
// filter it waits for, would live on.
func EndChildren() {
	self := os.Getpid()
	below, err := descendants(self)
	if err != nil {
		return // supervisors end by their pipes all the same
	}
	for _, p := range below {
		if p.parent == self && !p.dead {
			sendGroup(p, syscall.SIGKILL)
			_ = send(p, syscall.SIGKILL) // gone already is as good
		}
	}
}

package landing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"agentswarm/swarm/proc"
)

// minLimit is the least time that a check may take. A check that takes less on the
// branch varies by more than its own time.
const minLimit = time.Minute

// ErrTimeLimit ends a check that takes three times as long as on the branch itself.
var ErrTimeLimit = errors.New("the check took more than three times as long as on the branch itself")

// LimitFor is the time that a check may take on a tree with patches, by the time that it
// took on the branch itself.
func LimitFor(branch time.Duration) time.Duration { return max(3*branch, minLimit) }

// Limits bounds the runs of checks by the time that they take on the branch itself. The
// zero value bounds nothing until it learns. It can be used by several goroutines.
type Limits struct {
	mu     sync.Mutex // guards limits
	limits map[string]*limit
}

// limit is the bound of a command.
type limit struct {
	known chan struct{} // closed once most is set
	most  time.Duration
}

// of returns the bound of a command. The caller holds the lock.
func (l *Limits) of(command string) *limit {
	if l.limits == nil {
		l.limits = map[string]*limit{}
	}
	if l.limits[command] == nil {
		l.limits[command] = &limit{known: make(chan struct{})}
	}
	return l.limits[command]
}

// Learn sets the bound of a command by a run of it on the branch itself. Only the first
// call for a command counts. Runs that have begun are bounded, too.
func (l *Limits) Learn(command string, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of(command)
	select {
	case <-m.known:
	default:
		m.most = LimitFor(took)
		close(m.known)
	}
}

// Bound returns a context for a run of a command that begins now. It ends with
// [ErrTimeLimit] once the run takes too long. The caller calls done after the run. Nil
// Limits bound nothing.
func (l *Limits) Bound(ctx context.Context, command string) (_ context.Context, done func()) {
	if l == nil {
		return ctx, func() {}
	}
	l.mu.Lock()
	m := l.of(command)
	l.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	began, ended := time.Now(), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-m.known:
		case <-ctx.Done():
			return
		}
		timer := time.NewTimer(m.most - time.Since(began))
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel(ErrTimeLimit)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-ended
	}
}

// Hung reports whether a check failed for want of time or memory, for which other checks
// at the same time may be the cause. Late is set if the time limit ended it. A shell
// whose command was killed ends with 137.
func Hung(late bool, exit proc.Exit) bool {
	return late || exit.Reason == proc.Exited && exit.Code == 128+int(syscall.SIGKILL)
}

// leastFree is how many bytes a disk has to have free after a failed run. With less the
// disk may be the cause.
const leastFree = 16 << 20

// NoVerdictError is a run of a check that has no result. The landing stops. The next
// one continues from the verdicts before.
type NoVerdictError struct{ Reason string }

func (e *NoVerdictError) Error() string { return "merge: no verdict: " + e.Reason }

// Hint says how to continue the landing.
func (e *NoVerdictError) Hint() string {
	return "remove the cause and merge again: checks that have ended are not repeated"
}

// CheckDisk returns a [*NoVerdictError] if a run that failed left less than 16 MiB free on
// the disk. Free is in bytes.
func CheckDisk(passed bool, free int64) error {
	if passed || free >= leastFree {
		return nil
	}
	return &NoVerdictError{Reason: fmt.Sprintf("the disk is full: %d MiB are free after a check that failed", free>>20)}
}

package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"agentswarm/swarm/proc"
)

// The bounds of checks and of setups, unless [Limits] say others.
const (
	leastLimit   = time.Minute   // a short check varies by more than its own time
	longestLimit = 6 * time.Hour // as long as a job of common CI services may take
	setupLimit   = time.Hour
)

// ErrTimeLimit ends a check that takes three times as long as on the branch itself.
var ErrTimeLimit = errors.New("the check took more than three times as long as on the branch itself")

// Limits bounds the runs of checks by the time that they take on the branch itself, and
// the setup before them. The zero value has the bounds that docs/landing.md states. It can
// be used by several goroutines, and its fields are set before the first use.
type Limits struct {
	// Least is the least time that a check may take, and how long it runs before the
	// time on the branch itself is needed; 0: a minute.
	Least time.Duration
	// Longest bounds a check whose time on the branch itself is not known; 0: six hours.
	Longest time.Duration
	// Setup bounds the setup before a check; 0: an hour.
	Setup time.Duration

	mu     sync.Mutex // guards limits
	limits map[string]*limit
}

// limit is the bound of a command.
type limit struct {
	known   chan struct{} // closed once most is set
	most    time.Duration
	overdue chan struct{} // closed once a run needs the bound
	late    sync.Once     // closes overdue
}

// For is the time that a check may take on a tree with patches, by the time that it took
// on the branch itself.
func (l *Limits) For(branch time.Duration) time.Duration {
	return max(3*branch, cmp.Or(l.Least, leastLimit))
}

// of returns the bound of a command.
func (l *Limits) of(command string) *limit {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limits == nil {
		l.limits = map[string]*limit{}
	}
	if l.limits[command] == nil {
		l.limits[command] = &limit{known: make(chan struct{}), overdue: make(chan struct{})}
	}
	return l.limits[command]
}

// Learn sets the bound of a command by a run of it on the branch itself. Only the first
// call for a command counts. Runs that have begun are bounded, too.
func (l *Limits) Learn(command string, took time.Duration) {
	m := l.of(command)
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-m.known:
	default:
		m.most = l.For(took)
		close(m.known)
	}
}

// Overdue returns a channel that is closed once a run of a command has taken the least
// limit while its time on the branch itself is not known. It is nil if that is known.
func (l *Limits) Overdue(command string) <-chan struct{} {
	m := l.of(command)
	select {
	case <-m.known:
		return nil
	default:
		return m.overdue
	}
}

// Bound returns a context for a run of a command that begins now. It ends with
// [ErrTimeLimit] once the run takes too long by the time on the branch itself. If that is
// not known, it ends with a [*NoVerdictError] after the longest time. The caller calls done
// after the run.
func (l *Limits) Bound(ctx context.Context, command string) (_ context.Context, done func()) {
	m := l.of(command)
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.watch(ctx, m, cancel)
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-ended
	}
}

// watch cancels a run that begins now once it takes too long.
func (l *Limits) watch(ctx context.Context, m *limit, cancel context.CancelCauseFunc) {
	began := time.Now()
	least, longest := time.NewTimer(cmp.Or(l.Least, leastLimit)), time.NewTimer(cmp.Or(l.Longest, longestLimit))
	defer least.Stop()
	defer longest.Stop()
	for known := m.known; ; {
		select {
		case <-known:
			known = nil
			least.Stop()
			longest.Reset(m.most - time.Since(began))
		case <-least.C:
			m.late.Do(func() { close(m.overdue) })
		case <-longest.C:
			if known == nil {
				cancel(ErrTimeLimit)
			} else {
				cancel(tooLong("the check", cmp.Or(l.Longest, longestLimit)))
			}
			return
		case <-ctx.Done():
			return
		}
	}
}

// BoundSetup returns a context for a setup that begins now. It ends with a
// [*NoVerdictError] once the setup takes too long.
func (l *Limits) BoundSetup(ctx context.Context) (context.Context, context.CancelFunc) {
	most := cmp.Or(l.Setup, setupLimit)
	return context.WithTimeoutCause(ctx, most, tooLong("setup", most))
}

// tooLong is the error of a command that was ended without a verdict.
func tooLong(name string, most time.Duration) error {
	return &NoVerdictError{Reason: fmt.Sprintf("%s had not ended after %v", name, most)}
}

// Hung reports whether a check failed for want of time or memory, for which other checks
// at the same time may be the cause. Late is set if the time limit ended it. A shell
// whose command was killed ends with 137.
func Hung(late bool, exit proc.Exit) bool {
	return late || exit.Reason == proc.Exited && exit.Code == killedCode
}

// killedCode is the exit code of a command that was killed, as for want of memory.
const killedCode = 128 + int(syscall.SIGKILL)

// lateCode is the exit code in the verdict on a run that the time limit ended.
const lateCode = -1

// CodeOf is the exit code in the verdict on a run. It tells a run that the time limit ended
// from a run that was killed by another.
func CodeOf(late bool, exit proc.Exit) int {
	if late {
		return lateCode
	}
	return exit.Code
}

// Result says in a few words how a check ended.
func (v Verdict) Result() string {
	switch {
	case v.Passed:
		return "passed"
	case v.Ended:
		return "ended: the check fails on the branch itself"
	case v.Hung && v.Code == killedCode:
		return "failed: it was killed, as for want of memory"
	case v.Hung:
		return "failed: it reached its time limit"
	}
	return "failed"
}

// leastFree is how many bytes a disk has to have free after a failed run. With less the
// disk may be the cause.
const leastFree = 16 << 20

// NoVerdictError is a run of a check that has no result. The landing stops. The next
// landing continues from the verdicts before.
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

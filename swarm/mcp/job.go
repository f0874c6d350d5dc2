package mcp

import (
	"context"
	"sync"
	"time"
)

// job is a run that this server drives or follows.
type job struct {
	over   chan struct{} // closed once result and err are set
	result *Status
	err    error
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards all below
	at      Progress
	changed chan struct{} // closed at the next change of at
	waiters int
	leaving *time.Timer // stops the run; nil while nobody has given it up
}

func newJob(cancel context.CancelCauseFunc) *job {
	return &job{over: make(chan struct{}), changed: make(chan struct{}), cancel: cancel}
}

// ended reports whether result and err are set.
func (j *job) ended() bool {
	select {
	case <-j.over:
		return true
	default:
		return false
	}
}

// report notes the progress of the run and wakes up those who wait.
func (j *job) report(p Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.at = p
	close(j.changed)
	j.changed = make(chan struct{})
}

// now returns the progress and a channel that is closed when it changes.
func (j *job) now() (Progress, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.at, j.changed
}

// join keeps the run at work for a call that waits for it.
func (j *job) join() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiters++
	if j.leaving != nil {
		j.leaving.Stop()
		j.leaving = nil
	}
}

// leave ends the wait of a call. If the client gave the call up and no other call
// waits for a run that is still at work, the run stops after the time to linger.
func (j *job) leave(gaveUp bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiters--
	if gaveUp && j.waiters == 0 && !j.ended() {
		j.leaving = time.AfterFunc(linger, j.abandon)
	}
}

// abandon stops the run, unless a call joined it while the timer fired.
func (j *job) abandon() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.leaving != nil {
		j.cancel(ErrClientLeft)
	}
}

// settle sets how the run ended.
func (j *job) settle(result *Status, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.result, j.err = result, err
	if j.leaving != nil {
		j.leaving.Stop()
		j.leaving = nil
	}
	close(j.over)
}

package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/task"
)

// writers are the attempts whose setup or agent has begun.
type writers struct {
	mu    sync.Mutex // guards the fields below
	began map[attemptKey]diskwatch.Writer
}

type attemptKey struct {
	id task.ID
	n  int
}

// begin notes that processes of an attempt write from now on.
func (w *writers) begin(t *attempt, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := attemptKey{t.id, t.n}
	if _, known := w.began[key]; known {
		return
	}
	if w.began == nil {
		w.began = map[attemptKey]diskwatch.Writer{}
	}
	dirs := []string{t.dir}
	if t.space != nil && !t.within {
		dirs = append(dirs, t.space.Dir)
	}
	w.began[key] = diskwatch.Writer{ID: string(t.id), Attempt: t.n, Began: now, Dirs: dirs}
}

func (w *writers) end(id task.ID, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.began, attemptKey{id, n})
}

// Writers are the agents at work, for a watch of the disk.
func (e *Engine) Writers() []diskwatch.Writer {
	e.writers.mu.Lock()
	defer e.writers.mu.Unlock()
	var all []diskwatch.Writer
	for _, w := range e.writers.began {
		all = append(all, w)
	}
	return all
}

// current reports whether a writer is still at work.
func (w *writers) current(of diskwatch.Writer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, known := w.began[attemptKey{task.ID(of.ID), of.Attempt}]
	return known && now.Began.Equal(of.Began)
}

// HoldForDisk starts no further agent, for a reason; empty: it does again. With
// full set, those that wait fail for it while no agent is at work.
func (e *Engine) HoldForDisk(reason string, full bool) {
	e.do(func(context.Context) { e.noSpace, e.full = reason, full && reason != "" })
}

// StopWriter stops an attempt that a watch of the disk names, for a reason. Its
// work is captured. An attempt that has ended meanwhile is not replaced by the
// next of its agent.
func (e *Engine) StopWriter(w diskwatch.Writer, reason string) {
	e.do(func(context.Context) {
		a := e.agents[task.ID(w.ID)]
		if a != nil && a.cancel != nil && a.attempt == w.Attempt && e.writers.current(w) {
			a.cancel(&Halt{Cause: task.CauseStopped, Reason: reason})
		}
	})
}

// starve settles the agents that wait for space while none is at work and the
// disk is full.
func (e *Engine) starve() {
	if !e.full || e.running > 0 || e.ending || e.paused {
		return
	}
	waiting := e.queue
	e.queue = nil
	for _, id := range waiting {
		a := e.agents[id]
		e.settle(a, &task.Failed{
			Kind: task.StartFailed, Reason: e.noSpace + "; free some space (`swarm gc` empties the trash), then resume", Work: a.left,
		})
	}
}

// withReserve runs do. If the disk is full, it releases the reserve of the run
// and runs do once more.
func (e *Engine) withReserve(do func() error) error {
	err := do()
	if !limit.IsSpace(err) {
		return err
	}
	if rerr := diskwatch.Release(e.deps.Run.Dir); rerr != nil {
		return fmt.Errorf("%w (release %s: %v)", err, filepath.Join(e.deps.Run.Dir, "reserve"), rerr)
	}
	return do()
}

package agent

import (
	"cmp"
	"context"
	"time"

	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// Linger is how long an agent may go on after its answer without a word, where
// its kind says nothing else of that. Some never end.
const Linger = 30 * time.Second

// Stall is how long a stream of a model may send nothing by default.
const Stall = 10 * time.Minute

// hopelessAfter is how long an agent may try to reach a server that does not
// listen.
const hopelessAfter = 30 * time.Second

// MostWaits is how long an agent may do nothing but say that it waits for its
// provider. From then on it is idle.
const MostWaits = time.Hour

// Lingers is how long an agent of the kind may go on after its answer without a
// word; less than 0 is for as long as it likes. A command that is not told to
// finish may well have something else to do after its answer.
func (k Kind) Lingers(spec *Spec) time.Duration {
	if spec.Kind == KindCommand && spec.Input != InputJSONL {
		return -1
	}
	return k.Linger
}

func (l *Life) linger() time.Duration { return cmp.Or(l.Linger, Linger) }

// watched is the process of an agent.
type watched interface {
	Output() <-chan proc.Progress
	Stop()
}

// watcher follows an attempt.
type watcher struct {
	life  *Life
	read  *reader
	wrote wrote

	total, idle, linger *time.Timer
	ended               bool // for a request that its provider will refuse again
}

// printed says whether an agent has printed some more by the time that something
// else is due, and whether that keeps it from being idle.
type printed struct{ some, counts bool }

// watch follows the process until it is over, and ends it when its time is
// up or it is told to.
func (l *Life) watch(ctx context.Context, p watched, read *reader) {
	w := &watcher{
		life: l, read: read, wrote: wrote{busy: time.Now()},
		total: timer(l.Spec.Timeout), linger: timer(0),
	}
	w.idle = timer(w.quietLimit())
	defer w.total.Stop()
	defer w.idle.Stop()
	defer w.linger.Stop()
	done := ctx.Done()
	for {
		var due func(printed) (ends bool)
		select {
		case progress, ok := <-p.Output():
			if !ok {
				return
			}
			if w.hear(progress); read.outcome.Hopeless != nil && !w.ended {
				w.ended = true
				p.Stop()
			}
			continue
		case <-w.total.C:
			due = w.late
		case <-w.linger.C:
			due = w.lingers
		case <-w.idle.C:
			due = w.idles
		case <-done:
			done = nil
			due = func(printed) bool { read.stopped(context.Cause(ctx)); return true }
		}
		// A select takes any of the ready channels. The agent's output so far,
		// and its end, came first.
		var more printed
		select {
		case progress, ok := <-p.Output():
			if !ok {
				return // by itself
			}
			more = printed{some: true, counts: w.hear(progress)}
		default:
		}
		if due(more) {
			p.Stop()
		}
	}
}

// hear takes the printed output, and reports whether it resets the idle time.
func (w *watcher) hear(progress proc.Progress) (counts bool) {
	w.read.more(progress.Stdout)
	counts = w.wrote.counts(w.read.outcome, time.Now())
	if limit := w.quietLimit(); counts && limit > 0 {
		w.idle.Reset(limit)
	}
	if w.linger.Stop(); w.read.done() && w.life.linger() > 0 {
		w.linger.Reset(w.life.linger())
	}
	return counts
}

// late reports whether the time of the agent is up.
func (w *watcher) late(printed) (ends bool) {
	// The time it waited for a person is not its own.
	if more := w.read.line.credit(); more > 0 {
		w.total.Reset(more)
		return false
	}
	w.read.over(task.Timeout)
	return true
}

// lingers reports whether the agent has gone on after its answer for too long.
func (w *watcher) lingers(more printed) (ends bool) {
	if more.some {
		return false // its time begins again
	}
	if left := w.life.linger() - w.read.line.idle(); left > 0 {
		w.linger.Reset(left)
		return false
	}
	w.read.linger()
	return true
}

// idles reports whether the agent has written nothing for too long.
func (w *watcher) idles(more printed) (ends bool) {
	if more.counts {
		return false // its time begins again
	}
	limit := w.quietLimit()
	if limit == 0 {
		return false // nothing bounds a tool
	}
	if left := limit - w.read.line.idle(); left > 0 {
		w.idle.Reset(left)
		return false
	}
	if w.awaitsModel() {
		w.read.outcome.Stalled = limit
	}
	w.read.over(task.IdleTimeout)
	return true
}

// quietLimit returns the current idle limit: shorter if the agent waits for its
// model than if its tool runs.
func (w *watcher) quietLimit() time.Duration {
	limit, stall := w.life.Spec.IdleTimeout, w.life.Stall
	if !w.awaitsModel() || limit > 0 && limit < stall {
		return limit
	}
	return stall
}

// awaitsModel reports whether the agent waits for its model: none of its tools runs,
// and it has not answered. Of a command that is not known.
func (w *watcher) awaitsModel() bool {
	return w.life.Stall > 0 && len(w.read.tools) == 0 && !w.read.answered
}

// wrote is when an agent last wrote of anything but its provider.
type wrote struct{ busy time.Time }

// counts reports whether an agent's output resets its idle time.
func (w *wrote) counts(o *Outcome, now time.Time) bool {
	if o.Waits == "" {
		w.busy = now
	}
	return now.Sub(w.busy) < MostWaits
}

// timer is a timer that never fires for a duration of 0.
func timer(d time.Duration) *time.Timer {
	if d > 0 {
		return time.NewTimer(d)
	}
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

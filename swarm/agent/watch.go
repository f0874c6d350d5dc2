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

// watch follows the process until it is over, and ends it when its time is
// up or it is told to.
func (l *Life) watch(ctx context.Context, p *proc.Process, read *reader) {
	total := timer(l.Spec.Timeout)
	defer total.Stop()
	idle := timer(l.Spec.IdleTimeout)
	defer idle.Stop()
	linger := timer(0)
	defer linger.Stop()
	wrote := wrote{busy: time.Now()}
	done := ctx.Done()
	for {
		select {
		case progress, ok := <-p.Output():
			if !ok {
				return
			}
			read.more(progress.Stdout)
			if wrote.counts(read.outcome, time.Now()) && l.Spec.IdleTimeout > 0 {
				idle.Reset(l.Spec.IdleTimeout)
			}
			if linger.Stop(); read.done() && l.linger() > 0 {
				linger.Reset(l.linger())
			}
		case <-total.C:
			// The time it waited for a person is not its own.
			if more := read.line.credit(); more > 0 {
				total.Reset(more)
				continue
			}
			read.over(task.Timeout)
			p.Stop()
		case <-linger.C:
			if more := l.linger() - read.line.idle(); more > 0 {
				linger.Reset(more)
				continue
			}
			read.linger()
			p.Stop()
		case <-idle.C:
			if more := l.Spec.IdleTimeout - read.line.idle(); more > 0 {
				idle.Reset(more)
				continue
			}
			read.over(task.IdleTimeout)
			p.Stop()
		case <-done:
			done = nil
			progress, ended := latest(p.Output())
			if ended {
				return // by itself
			}
			read.stopped(context.Cause(ctx), progress.Stdout)
			p.Stop()
		}
	}
}

// wrote is when an agent last wrote of anything but its provider.
type wrote struct{ busy time.Time }

// counts reports whether what an agent has written keeps it from being idle.
func (w *wrote) counts(o *Outcome, now time.Time) bool {
	if o.Waits == "" {
		w.busy = now
	}
	return now.Sub(w.busy) < MostWaits
}

// latest is what a process has printed that nobody has read yet, and whether it
// has ended, which its closed output says.
func latest(output <-chan proc.Progress) (progress proc.Progress, ended bool) {
	select {
	case progress, more := <-output:
		return progress, !more
	default:
		return proc.Progress{}, false
	}
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

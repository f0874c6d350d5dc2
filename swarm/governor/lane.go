package governor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// How long the first in line waits before it looks again whether another
// process has left: about pollGap, more or less by chance.
const pollGap = 200 * time.Millisecond

// maxSleep bounds how long it sleeps when it was told to wait: the file may be
// remade meanwhile.
const maxSleep = 5 * time.Second

// muchLonger is the least growth of a wait that is reported to waiters again.
const muchLonger = time.Minute

// lane is a lane as this process has it.
type lane struct {
	governor *Governor
	name     Lane

	mu     sync.Mutex // guards the fields below
	passes map[*Pass]bool
	queue  []*waiter // those who wait, the first in line first
	why    string    // the reason of the current wait, as told to the waiters
	until  time.Time // the end of the wait that why names
	alone  record    // the lane as it is here, while the file cannot be used
	stuck  bool      // somebody held the file for too long
	ahead  bool      // alone is newer than the file, which could not be written
}

// waiter is an agent in the queue.
type waiter struct {
	lane  *lane
	first chan struct{} // closed once it is the first
	wake  chan struct{} // something has changed
	news  chan string   // why it waits
}

// join puts a new waiter at the end of the queue.
func (l *lane) join() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiter{lane: l, first: make(chan struct{}), wake: make(chan struct{}, 1), news: make(chan string, 1)}
	l.queue = append(l.queue, w)
	if len(l.queue) == 1 {
		l.why, l.until = "", time.Time{}
		close(w.first)
	} else if l.why != "" {
		w.report(l.why)
	}
	return w
}

// part takes a waiter out of the queue, at any place.
func (l *lane) part(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.Index(l.queue, w)
	l.queue = slices.Delete(l.queue, at, at+1)
	if at == 0 && len(l.queue) > 0 {
		close(l.queue[0].first)
	}
}

// rouse has the first in line look again. The caller holds mu.
func (l *lane) rouse() {
	if len(l.queue) == 0 {
		return
	}
	select {
	case l.queue[0].wake <- struct{}{}:
	default:
	}
}

// report replaces a reason that the waiter has not read yet.
func (w *waiter) report(why string) {
	select {
	case <-w.news:
	default:
	}
	w.news <- why
}

// turn waits until it is the first in line.
func (w *waiter) turn(ctx context.Context, waits func(string)) error {
	for {
		select {
		case <-w.first:
			return nil
		case why := <-w.news:
			if waits != nil {
				waits(why)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sleep waits until it may be worth trying again.
func (w *waiter) sleep(ctx context.Context, waits func(string), wait time.Duration) error {
	gap := pollGap/2 + w.lane.governor.options.Chance(pollGap)
	if wait > 0 {
		gap = min(wait+w.lane.governor.options.Chance(min(wait/4, pollGap)), maxSleep)
	}
	again := time.NewTimer(gap)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			return nil
		case <-w.wake:
			return nil
		case why := <-w.news:
			if waits != nil {
				waits(why)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// try admits the first waiter, or returns how long that should wait; 0:
// unknown.
func (l *lane) try() (*Pass, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.governor.options.Now()
	p := &Pass{lane: l, fresh: true, came: now, since: now}
	var why string
	var wait time.Duration
	l.update(func(r *record) {
		held, _ := r.occupancy(now)
		if l.stuck && len(l.passes) == 0 {
			held = 0 // the places of others may be out of date, and may never change
		}
		if why, wait = r.Window.Enter(now, held, l.governor.options.Chance); why == "" {
			l.passes[p] = true
		}
	})
	if why == "" {
		return p, 0
	}
	l.announce(now, why, wait)
	return nil, wait
}

// announce tells all in line why they wait, where that is news. The caller
// holds mu.
func (l *lane) announce(now time.Time, why string, wait time.Duration) {
	text := fmt.Sprintf("waiting for a slot (%s: %s)", l.name, why)
	until := now.Add(wait)
	if l.why != "" && (wait == 0 || until.Before(l.until.Add(muchLonger))) {
		l.why = text // later waiters are told this
		return
	}
	l.why, l.until = text, until
	for _, w := range l.queue {
		w.report(text)
	}
}

// holder lists the places of this process in the lane. The caller holds mu.
func (l *lane) holder() holder {
	h := holder{N: len(l.passes)}
	for p := range l.passes {
		if p.fresh {
			h.Fresh = append(h.Fresh, p.came.UnixMilli())
		}
	}
	slices.Sort(h.Fresh)
	return h
}

// update changes the record of the lane, once. If its file cannot be used, the
// lane continues with the record that was read last. The caller holds mu.
func (l *lane) update(change func(*record)) {
	g := l.governor
	with := func(r *record) {
		if r.Holders == nil {
			r.Holders = map[string]holder{}
		}
		l.putIn(r)
		change(r)
		l.putIn(r)
	}
	if g.shelf == nil {
		with(&l.alone)
		return
	}
	patience := g.shelf.patience
	if l.stuck {
		patience = heldTime
	}
	changed := false
	notice, err := g.shelf.update(l.name, patience, func(r *record) {
		l.stuck = false
		if l.ahead {
			r.Window = l.alone.Window
		}
		with(r)
		l.alone, changed = r.clone(), true
	})
	if notice != "" && g.options.Warn != nil {
		g.options.Warn(notice)
	}
	l.ahead = err != nil && changed
	if err == nil {
		return
	}
	g.warn(err)
	l.stuck = errors.Is(err, errLocked)
	if changed {
		return
	}
	if l.alone.Window.Size == 0 {
		// The file is replaced atomically: a read without its lock is whole,
		// too.
		if r, _, err := readRecord(g.shelf.file(l.name)); err == nil {
			l.alone = r
		}
	}
	g.shelf.prune(&l.alone)
	with(&l.alone)
}

// putIn writes the places of this process into a record. The caller holds mu.
func (l *lane) putIn(r *record) {
	if len(l.passes) == 0 {
		delete(r.Holders, l.governor.id)
		return
	}
	r.Holders[l.governor.id] = l.holder()
}

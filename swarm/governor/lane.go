package governor

import (
	"context"
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

// muchLonger is how much longer than was said it has to be until those who wait
// are told again.
const muchLonger = time.Minute

// lane is a lane as this process has it.
type lane struct {
	governor *Governor
	name     Lane

	mu     sync.Mutex // guards what follows
	passes map[*Pass]bool
	queue  []*waiter // those who wait, the first in line first
	why    string    // that one waits; what they are told
	until  time.Time // what why says of that
	alone  record    // the lane as it is here, while the file cannot be used
}

// waiter is one agent in line.
type waiter struct {
	lane  *lane
	first chan struct{} // closed once it is the first
	wake  chan struct{} // something has changed
	news  chan string   // why it waits
}

// join puts a new one at the end of the line.
func (l *lane) join() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiter{lane: l, first: make(chan struct{}), wake: make(chan struct{}, 1), news: make(chan string, 1)}
	l.queue = append(l.queue, w)
	if len(l.queue) == 1 {
		l.why, l.until = "", time.Time{}
		close(w.first)
	} else if l.why != "" {
		w.tell(l.why)
	}
	return w
}

// part takes one out of the line, wherever it stands.
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

// tell replaces what one is to know that it has not read yet.
func (w *waiter) tell(why string) {
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

// try lets the first in line in, or says how long that should wait; 0 where
// nobody knows.
func (l *lane) try() (*Pass, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.governor.options.Now()
	p := &Pass{lane: l, fresh: true, came: now, since: now}
	var why string
	var wait time.Duration
	l.update(func(r *record) {
		// It may be asked again, where the first answer could not be written.
		delete(l.passes, p)
		l.putIn(r)
		held, _ := r.occupancy(now)
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
	text := fmt.Sprintf("waiting for a slot of %s: %s", l.name, why)
	until := now.Add(wait)
	if l.why != "" && (wait == 0 || until.Before(l.until.Add(muchLonger))) {
		l.why = text // whoever joins later is told this
		return
	}
	l.why, l.until = text, until
	for _, w := range l.queue {
		w.tell(text)
	}
}

// holder is what this process holds of the lane. The caller holds mu.
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

// update changes the record of the lane. Where its file cannot be used the
// lane goes on by what is known here. The caller holds mu.
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
	if g.shelf != nil {
		notice, err := g.shelf.update(l.name, func(r *record) {
			with(r)
			l.alone.Window = r.Window
		})
		if notice != "" && g.options.Warn != nil {
			g.options.Warn(notice)
		}
		if err == nil {
			return
		}
		g.warn(err)
	}
	with(&l.alone)
}

// putIn puts what this process holds into a record. The caller holds mu.
func (l *lane) putIn(r *record) {
	if len(l.passes) == 0 {
		delete(r.Holders, l.governor.id)
		return
	}
	r.Holders[l.governor.id] = l.holder()
}

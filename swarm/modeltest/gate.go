package modeltest

import (
	"context"
	"sync"
)

// Stats counts the requests for an answer of a model; listings and counts of
// tokens are none.
type Stats struct {
	Requests int // all that came
	Refused  int // of those, by Script.Limit
	Working  int // now
	Highest  int // the most at once
}

// ledger counts requests, bounds the requests in work, and records them.
type ledger struct {
	limit  int
	forget bool

	mu      sync.Mutex // guards the rest
	stats   Stats
	kept    []Request
	tries   map[[32]byte]int
	changed chan struct{} // closed when stats change
}

// enter counts a request in and gives it a number, from 1 on. It is false for a
// request beyond the limit, which must not leave.
func (l *ledger) enter() (serial int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Requests++
	if l.limit > 0 && l.stats.Working >= l.limit {
		l.stats.Refused++
	} else {
		l.stats.Working++
		l.stats.Highest = max(l.stats.Highest, l.stats.Working)
		ok = true
	}
	if l.forget {
		l.wake()
	}
	return l.stats.Requests, ok
}

func (l *ledger) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Working--
	l.wake()
}

// keep records a request. Callers that wait for requests see it from then on.
func (l *ledger) keep(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.forget {
		return
	}
	l.kept = append(l.kept, r)
	l.wake()
}

// again is how often the conversation was asked about before.
func (l *ledger) again(c *conversation) int {
	digest := c.digest()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tries == nil {
		l.tries = map[[32]byte]int{}
	}
	before := l.tries[digest]
	l.tries[digest]++
	return before
}

func (l *ledger) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// await returns once the condition holds.
func (l *ledger) await(ctx context.Context, holds func(Stats, []Request) bool) error {
	for {
		l.mu.Lock()
		if holds(l.stats, l.kept) {
			l.mu.Unlock()
			return nil
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

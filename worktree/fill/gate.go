// Package fill fills workspaces: a gate that finds out how many fills run at once,
// and workers that clone or copy the files of a checkout.
package fill

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// adaptiveLimit finds the best number of parallel fills by trials: a fill more,
// or a fill less, for a window of fills at a time. It is pure, so that a table
// can test it.
//
// Thirty trees checked out in parallel on one disk took eight times as long as
// in sequence. On another disk two in parallel are twice as fast. Only a
// measurement tells.
type adaptiveLimit struct {
	width, max int
	settled    float64 // rate at the width that was last kept
	trying     int     // +1 or -1 while a neighbour is tried, else 0
	next       int     // which neighbour comes next
	rest       int     // windows to wait before the next try
}

// A trial of more fills must be this much better to be kept, and after a failed
// trial some windows pass before the next.
const (
	minGain     = 1.10
	restWindows = 4
)

func newAdaptiveLimit(cores int) adaptiveLimit {
	return adaptiveLimit{width: min(2, cores), max: 2 * cores, next: +1}
}

// observe takes the rate of a window at the current width and sets the width of
// the next window.
func (c *adaptiveLimit) observe(rate float64) {
	switch c.trying {
	case 0:
		c.settled = rate
		if c.rest > 0 {
			c.rest--
			return
		}
		c.try()
	case +1:
		c.judge(rate >= c.settled*minGain, rate)
	case -1:
		// The same with less is better: agents need the disk too.
		c.judge(rate >= c.settled, rate)
	}
}

// try moves to a neighbour that exists.
func (c *adaptiveLimit) try() {
	if c.width+c.next < 1 || c.width+c.next > c.max {
		c.next = -c.next
	}
	if n := c.width + c.next; n >= 1 && n <= c.max {
		c.trying, c.width = c.next, n
	}
}

// judge keeps the neighbour and goes on that way, or steps back and rests.
func (c *adaptiveLimit) judge(better bool, rate float64) {
	tried := c.trying
	c.trying = 0
	if better {
		c.settled = rate
		c.try()
		return
	}
	c.width -= tried
	c.next = -tried
	c.rest = restWindows
}

// Gate lets as many fills through at once as its climb says.
type Gate struct {
	mu      sync.Mutex // guards the fields below
	limit   adaptiveLimit
	busy    int
	ending  int // captures and releases under way
	waiting []chan struct{}

	done  int       // fills of this window
	since time.Time // when the window began; zero: at the next fill
}

// NewGate makes a gate for a machine with this number of cores.
func NewGate(cores int) *Gate { return &Gate{limit: newAdaptiveLimit(cores)} }

// Enter waits for a place.
func (g *Gate) Enter(ctx context.Context) error {
	g.mu.Lock()
	if g.room() {
		g.busy++
		if g.since.IsZero() {
			g.since = time.Now()
		}
		g.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == turn {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			return fmt.Errorf("wait to fill a workspace: %w", context.Cause(ctx))
		}
	}
	// The turn came at the same moment: hand it on.
	g.busy--
	g.admit()
	return fmt.Errorf("wait to fill a workspace: %w", context.Cause(ctx))
}

// Leave gives the place back. Only a window with a waiting fill at its end
// gives a rate for the width.
func (g *Gate) Leave(filled bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy--
	if filled {
		g.done++
	}
	if g.done >= max(4, 2*g.limit.width) {
		if spent := time.Since(g.since).Seconds(); len(g.waiting) > 0 && spent > 0 {
			g.limit.observe(float64(g.done) / spent)
		}
		g.done, g.since = 0, time.Now()
	}
	g.admit()
	if g.busy == 0 {
		g.done, g.since = 0, time.Time{}
	}
}

// room reports whether another workspace may be filled. Ending workspaces go
// first: a workspace that is captured and gone frees its disk and its page
// cache, and with many agents no start is urgent. The caller holds mu.
func (g *Gate) room() bool { return g.busy+g.ending < g.limit.width }

// Ending says that a workspace is on its way out, until done is called.
func (g *Gate) Ending() (done func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ending++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ending--
		g.admit()
	}
}

// admit lets the next in while there is room. The caller holds mu.
func (g *Gate) admit() {
	for g.room() && len(g.waiting) > 0 {
		close(g.waiting[0])
		g.waiting = g.waiting[1:]
		g.busy++
	}
}

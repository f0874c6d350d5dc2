// Package governor owns the number of agents that use a provider at the same
// time: a window for each lane. All runs of this user on this machine share the
// windows through files in the state folder.
//
// It holds agents back before they start and learns from the results of their
// requests. It starts, ends and retries nothing: the engine does. The growth of
// a window is that of [limit.Window].
package governor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"time"

	"agentswarm/swarm/limit"
)

// Lane is the key of a window: a provider and a model, or a kind of agents if
// neither is known. Empty is no lane.
type Lane string

// Options configures a governor.
type Options struct {
	Now    func() time.Time // required
	Chance limit.Chance     // required
	// Warn reports a problem with the files to a person, once each. It may be
	// nil.
	Warn func(string)
}

// Governor lets agents into lanes. Its methods may be called from several
// goroutines.
type Governor struct {
	options Options
	shelf   *shelf // nil: nothing is shared with other processes
	id      string // of this process among the holders of a lane

	mu     sync.Mutex // guards the fields below
	lanes  map[Lane]*lane
	warned bool
}

// Open takes part in the governor whose files are in a folder, which is made
// where it is missing.
func Open(dir string, o Options) (*Governor, error) {
	var name [8]byte
	_, _ = rand.Read(name[:]) // it never fails
	g := Alone(o)
	g.id = hex.EncodeToString(name[:])
	shelf, err := openShelf(dir, g.id)
	if err != nil {
		return nil, fmt.Errorf("open the governor in %s: %w", dir, err)
	}
	g.shelf = shelf
	return g, nil
}

// Alone is a governor that shares nothing with other processes.
func Alone(o Options) *Governor {
	return &Governor{options: o, id: "this", lanes: map[Lane]*lane{}}
}

// Close leaves all lanes. Enter must not be called any more.
func (g *Governor) Close() error {
	if g.shelf == nil {
		return nil
	}
	return g.shelf.close()
}

// Request is an agent that wants to enter a lane.
type Request struct {
	Lane Lane // required
	// Waits is told why it has to wait, and again where that is to take much
	// longer than was said. It may be nil.
	Waits func(why string)
}

// Enter waits until an agent may start its work in a lane. The agents of this
// process enter in the order they came, except those whose ctx has ended. The
// pass has to be given back.
func (g *Governor) Enter(ctx context.Context, r Request) (*Pass, error) {
	l := g.lane(r.Lane)
	w := l.join()
	defer l.part(w)
	if err := w.turn(ctx, r.Waits); err != nil {
		return nil, err
	}
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p, wait := l.try()
		if p != nil {
			return p, nil
		}
		if err := w.sleep(ctx, r.Waits, wait); err != nil {
			return nil, err
		}
	}
}

func (g *Governor) lane(name Lane) *lane {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[name]
	if l == nil {
		l = &lane{governor: g, name: name, passes: map[*Pass]bool{}}
		g.lanes[name] = l
	}
	return l
}

// warn reports a problem with the files, once.
func (g *Governor) warn(err error) {
	g.mu.Lock()
	first := !g.warned
	g.warned = true
	g.mu.Unlock()
	if first && g.options.Warn != nil {
		g.options.Warn("limits on requests are not shared with other runs for now: " + err.Error())
	}
}

// Pass is an agent at work in a lane.
type Pass struct {
	lane  *lane
	fresh bool      // no request of it is known to have gone well
	came  time.Time // when it entered
	since time.Time // when it entered, or last had a request go well
}

// passGap is the shortest time between two counted successes of an agent: an
// agent that reports thousands must not keep the files busy.
const passGap = 100 * time.Millisecond

// Passed notes a request of the agent that went well. left is the number of
// requests that the provider reports as left within about a minute; 0: it does
// not report it.
func (p *Pass) Passed(left int) {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.governor.options.Now()
	if !l.passes[p] || !p.fresh && now.Sub(p.since) < passGap {
		return
	}
	first := p.fresh
	p.fresh, p.since = false, now
	l.update(func(r *record) {
		held, fresh := r.occupancy(now)
		r.Window.Passed(now, limit.Success{Held: held, Fresh: fresh, First: first, Left: left})
	})
	l.rouse()
}

// Refusal describes a refused request.
type Refusal struct {
	After      time.Duration // how long it was told to wait; 0 where it was not
	Overloaded bool          // the provider is short itself
}

// Refused notes a request of the agent that was refused.
func (p *Pass) Refused(r Refusal) {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.passes[p] {
		return
	}
	now := l.governor.options.Now()
	l.update(func(rec *record) {
		held, _ := rec.occupancy(now)
		rec.Window.Refuse(now, limit.Refusal{After: r.After, Overloaded: r.Overloaded, Since: p.since}, held, l.governor.options.Chance)
	})
	l.rouse() // the waiters should know how long
}

// Done gives the pass back. It may be called again.
func (p *Pass) Done() {
	l := p.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.passes[p] {
		return
	}
	delete(l.passes, p)
	l.update(func(*record) {})
	l.rouse()
}

// makeFolder makes a folder that only the user can read.
func makeFolder(dir string) error { return os.MkdirAll(dir, 0o700) }

// Restart resets a lane after a time in which it could not be used: it admits
// at most as many agents at once as a new lane.
func (g *Governor) Restart(name Lane) {
	l := g.lane(name)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := g.options.Now()
	l.update(func(r *record) { r.Window.Restart(now) })
	l.rouse()
}

package limit

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Kind is the memory need of a kind of agents.
type Kind struct {
	// Footprint is the memory that an agent is expected to need, in bytes; 0 is
	// [CommandFootprint].
	Footprint int64
}

// settled is the time after which an agent counts as having all its memory, as
// far as the kernel reports it.
const settled = 10 * time.Second

// memoryGap is the time between two looks of a waiter: other programs give
// memory back, too, without a notice.
const memoryGap = time.Second

// Memory admits agents by free memory. The available memory, less the expected
// growth of the admitted agents, has to leave a reserve to all other programs.
// A single agent is always admitted; a small machine could not run any
// otherwise.
type Memory struct {
	// Available is the memory for new programs; where it is unknown, all are
	// admitted.
	Available func() Room // required
	// Used is the memory below a process; nil or 0: unknown.
	Used func(pid int) int64
	Now  func() time.Time // required

	mu      sync.Mutex // guards the fields below
	in      map[*Tenant]bool
	learnt  map[string]int64 // the measured memory, by kind
	last    *reading         // the reading for all waiters; nil: it is to be taken again
	changed chan struct{}    // closed when an agent has left
}

// reading is a measurement at a time. Without it a hundred waiting agents would
// each look through all processes of a hundred others, every second.
type reading struct {
	at   time.Time
	free Room
	used map[*Tenant]int64 // nil: not needed yet
}

// Tenant is an agent that was admitted.
type Tenant struct {
	memory *Memory
	kind   string
	table  int64 // the configured need of its kind
	since  time.Time
	pid    int // of its supervisor; 0 before it has a supervisor
}

// MemoryRequest is an agent that wants to start.
type MemoryRequest struct {
	Name string // required: of its kind
	Kind Kind
	// Waits is told once why it has to wait. It may be nil.
	Waits func(why string)
}

// Admit waits until an agent fits, and admits none whose ctx has ended. Leave must
// be called once it has ended.
func (m *Memory) Admit(ctx context.Context, r MemoryRequest) (*Tenant, error) {
	if r.Kind.Footprint <= 0 {
		r.Kind.Footprint = CommandFootprint
	}
	for told := false; ; told = true {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		tenant, why, changed := m.try(r)
		if tenant != nil {
			return tenant, nil
		}
		if !told && r.Waits != nil {
			r.Waits(why)
		}
		again := time.NewTimer(memoryGap)
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, context.Cause(ctx)
		}
		again.Stop()
	}
}

// Runs says by which process an agent is run.
func (t *Tenant) Runs(pid int) {
	t.memory.mu.Lock()
	defer t.memory.mu.Unlock()
	t.pid = pid
}

// Leave gives back the memory of an admitted agent.
func (t *Tenant) Leave() {
	m := t.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.in, t)
	m.last = nil
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// try admits an agent, or returns the reason against it and the channel to wait
// for.
func (m *Memory) try(r MemoryRequest) (*Tenant, string, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	free := m.look()
	if len(m.in) > 0 && free.Free > 0 && !m.fits(free, r) {
		need := m.likely(r.Name, r.Kind.Footprint)
		if m.changed == nil {
			m.changed = make(chan struct{})
		}
		return nil, fmt.Sprintf("waiting for memory: %s needs %d MiB, and of the %d MiB that are free %d are kept",
			r.Name, need>>20, free.Free>>20, free.reserve()>>20), m.changed
	}
	t := &Tenant{memory: m, kind: r.Name, table: r.Kind.Footprint, since: m.Now()}
	if m.in == nil {
		m.in = map[*Tenant]bool{}
	}
	m.in[t] = true
	return t, "", nil
}

// look is the available memory, the same for all callers within a short time.
func (m *Memory) look() (free Room) {
	now := m.Now()
	if m.last == nil || now.Before(m.last.at) || now.Sub(m.last.at) >= memoryGap {
		m.last = &reading{at: now, free: m.Available()}
	}
	return m.last.free
}

// fits reports whether another agent leaves the reserve. It measures the memory
// of the other agents only if that is close.
func (m *Memory) fits(free Room, r MemoryRequest) bool {
	promised := m.likely(r.Name, r.Kind.Footprint)
	for t := range m.in {
		promised += m.likely(t.kind, t.table)
	}
	if free.Free-promised >= free.reserve() {
		return true
	}
	if m.last.used == nil {
		m.measure()
	}
	promised = m.likely(r.Name, r.Kind.Footprint)
	for t := range m.in {
		promised += m.owed(t)
	}
	return free.Free-promised >= free.reserve()
}

// likely is the expected memory of an agent of a kind.
func (m *Memory) likely(kind string, table int64) int64 {
	if known := m.learnt[kind]; known > 0 {
		// A measure is of this moment, and a program that grew once
		// is no measure for all: the table keeps it in bounds.
		return min(max(known, table/2), 8*table)
	}
	return table
}

// owed is the memory that an agent is likely to take yet.
func (m *Memory) owed(t *Tenant) int64 {
	if used := m.used(t); used > 0 {
		return max(0, m.likely(t.kind, t.table)-used)
	}
	if m.Now().Sub(t.since) >= settled {
		return 0 // whatever it has is not available any more
	}
	return m.likely(t.kind, t.table)
}

// used is the last measured memory of an agent; 0: it is unknown.
func (m *Memory) used(t *Tenant) int64 { return m.last.used[t] }

// measure reads the memory of each agent, and learns the need of each kind from
// the agents that have run for a while.
func (m *Memory) measure() {
	m.last.used = map[*Tenant]int64{}
	sum, n := map[string]int64{}, map[string]int64{}
	for t := range m.in {
		if m.Used == nil || t.pid == 0 {
			continue
		}
		used := m.Used(t.pid)
		m.last.used[t] = used
		if used > 0 && m.Now().Sub(t.since) >= settled {
			sum[t.kind] += used
			n[t.kind]++
		}
	}
	for kind := range sum {
		if m.learnt == nil {
			m.learnt = map[string]int64{}
		}
		m.learnt[kind] = sum[kind] / n[kind]
	}
}

// Gaps keeps starts of the same kind apart. The zero value is ready.
type Gaps struct {
	mu   sync.Mutex // guards next
	next map[string]time.Time
}

// Wait waits for the turn of an agent to start. It returns the cause of ctx
// once ctx has ended.
func (g *Gaps) Wait(ctx context.Context, kind string, gap time.Duration) error {
	if gap <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	left := g.take(kind, gap, time.Now())
	turn := time.NewTimer(left)
	defer turn.Stop()
	select {
	case <-turn.C:
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// take gives out the next turn, and says how long it is until then.
func (g *Gaps) take(kind string, gap time.Duration, now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	turn := now
	if next := g.next[kind]; next.After(turn) {
		turn = next
	}
	if g.next == nil {
		g.next = map[string]time.Time{}
	}
	g.next[kind] = turn.Add(gap)
	return turn.Sub(now)
}

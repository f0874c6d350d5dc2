package limit

import (
	"maps"
	"slices"
	"time"

	"agentswarm/swarm/task"
)

// The reservation of a call whose kind has used nothing yet: the tokens are a
// long answer, the dollars their cost at fifteen a million, the time that of
// such an answer.
const (
	FirstTokens = 20_000
	FirstUSD    = 0.30
	FirstTime   = 5 * time.Minute
)

// Admission is whether a budget lets a call start.
type Admission uint8

// The admissions. The zero value refuses.
const (
	// Refused says that the total is spent: nothing that settles makes room.
	Refused Admission = iota
	// Waits says that running calls may use the rest: there is room once they
	// have settled and used less.
	Waits
	// Admitted says that the call may start, and has reserved.
	Admitted
)

// Reservation is a call that wants to start.
type Reservation struct {
	ID   string // required: unique among those that run
	Kind string // calls of a kind are likely to use the same amount
	// Limits are the call's own; 0 is none.
	Limits task.Amount
	// Silent is set where the call reports no usage: it spends time only.
	Silent bool
}

// Budget limits the calls of a run to totals. It is pure: it measures and
// starts nothing, and a single goroutine uses it.
//
// A call starts while the sum of the spending and the unspent reservations of
// running calls is less than the total. Time is not reserved: it passes for all
// of them at once.
type Budget struct {
	total   task.Amount
	spent   task.Amount // by calls that run, too
	running map[string]*reserved
	used    map[string]task.Amount // the highest usage of a call of each kind
}

// reserved is a call that runs.
type reserved struct {
	kind string
	held task.Amount // at its start
	used task.Amount // so far, as it reports
}

// NewBudget is a budget of which something was spent before.
func NewBudget(total, spent task.Amount) *Budget {
	return &Budget{
		total: total, spent: spent,
		running: map[string]*reserved{}, used: map[string]task.Amount{},
	}
}

// Spent is the spending of the run, including that of running calls.
func (b *Budget) Spent() task.Amount { return b.spent }

// Learn notes the usage of a call of a kind under an earlier owner.
func (b *Budget) Learn(kind string, used task.Amount) {
	most := b.used[kind]
	b.used[kind] = task.Amount{
		Tokens: max(most.Tokens, used.Tokens), USD: max(most.USD, used.USD), Time: max(most.Time, used.Time),
	}
}

// Reserve lets a call start, or says why not.
func (b *Budget) Reserve(r Reservation) Admission {
	switch {
	case b.Exhausted():
		return Refused
	case !b.fits():
		return Waits
	}
	held := task.Amount{Tokens: FirstTokens, USD: FirstUSD, Time: FirstTime}
	if most, known := b.used[r.Kind]; known {
		held = most
	}
	held = task.Amount{
		Tokens: lesser(held.Tokens, r.Limits.Tokens), USD: lesser(held.USD, r.Limits.USD),
		Time: lesser(held.Time, r.Limits.Time),
	}
	if r.Silent {
		held.Tokens, held.USD = 0, 0
	}
	b.running[r.ID] = &reserved{kind: r.Kind, held: held}
	return Admitted
}

// lesser is an estimate, and no more than a limit that is set.
func lesser[T int64 | float64 | time.Duration](estimate, limit T) T {
	if limit > 0 {
		return min(estimate, limit)
	}
	return estimate
}

// Exhausted reports whether a total is spent.
func (b *Budget) Exhausted() bool { return b.Short() != task.Amount{} }

// Short are the totals that are spent; the others are 0.
func (b *Budget) Short() (short task.Amount) {
	if b.total.Tokens > 0 && b.spent.Tokens >= b.total.Tokens {
		short.Tokens = b.total.Tokens
	}
	if b.total.USD > 0 && b.spent.USD >= b.total.USD {
		short.USD = b.total.USD
	}
	if b.total.Time > 0 && b.spent.Time >= b.total.Time {
		short.Time = b.total.Time
	}
	return short
}

// fits reports whether there is room beside the open reservations of running
// calls.
func (b *Budget) fits() bool {
	likely := b.spent
	for _, r := range b.inOrder() {
		likely.Add(task.Amount{
			Tokens: max(0, r.held.Tokens-r.used.Tokens), USD: max(0, r.held.USD-r.used.USD),
		})
	}
	return (b.total.Tokens == 0 || likely.Tokens < b.total.Tokens) &&
		(b.total.USD == 0 || likely.USD < b.total.USD)
}

// inOrder lists the running calls, always in the same order: the last digit of
// a sum of dollars depends on the order, and that digit may decide whether the
// total is reached.
func (b *Budget) inOrder() (all []*reserved) {
	for _, id := range slices.Sorted(maps.Keys(b.running)) {
		all = append(all, b.running[id])
	}
	return all
}

// Spend counts the reported usage of a call. The usage of a call that does not
// run is counted too.
func (b *Budget) Spend(id string, u task.Usage) {
	b.spent.Add(u.Spent())
	if r := b.running[id]; r != nil {
		r.used.Add(u.Spent())
	}
}

// Ending is a call that ran and does not any more.
type Ending struct {
	ID string // required
	// Usage is its whole usage, including the usage that it had reported.
	Usage task.Usage
	Took  time.Duration
	// Whole is set if the call did its task. A call that did not, and has no
	// usage, says nothing about its kind.
	Whole bool
}

// End gives back the reservation of a call.
func (b *Budget) End(e Ending) {
	r := b.running[e.ID]
	if r == nil {
		return
	}
	delete(b.running, e.ID)
	used := e.Usage.Spent()
	b.spent.Add(task.Amount{Tokens: max(0, used.Tokens-r.used.Tokens), USD: max(0, used.USD-r.used.USD)})
	if used.Time = e.Took; e.Whole || used.Tokens > 0 || used.USD > 0 {
		b.Learn(r.kind, used)
	}
}

// Pass says how much time has been spent in all.
func (b *Budget) Pass(worked time.Duration) { b.spent.Time = max(b.spent.Time, worked) }

// hard is the limit at which running calls are stopped: the total and their
// reservations. Time passes for all of them at once, so of time it adds only
// the longest reservation.
func (b *Budget) hard() task.Amount {
	at := b.total
	var longest time.Duration
	for _, r := range b.inOrder() {
		at.Add(task.Amount{Tokens: r.held.Tokens, USD: r.held.USD})
		longest = max(longest, r.held.Time)
	}
	at.Add(task.Amount{Time: longest})
	return at
}

// Overdrawn reports whether running calls are to be stopped.
func (b *Budget) Overdrawn() bool {
	if len(b.running) == 0 {
		return false
	}
	at := b.hard()
	return b.total.Tokens > 0 && b.spent.Tokens >= at.Tokens ||
		b.total.USD > 0 && b.spent.USD >= at.USD ||
		b.total.Time > 0 && b.spent.Time >= at.Time
}

// Left is the time after which running calls are to be stopped; 0 where no
// time was given.
func (b *Budget) Left() time.Duration {
	if b.total.Time == 0 || len(b.running) == 0 {
		return 0
	}
	return max(time.Millisecond, b.hard().Time-b.spent.Time)
}

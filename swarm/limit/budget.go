package limit

import (
	"maps"
	"slices"
	"time"

	"agentswarm/swarm/task"
)

// What a call reserves whose kind has used nothing yet: the tokens are a long
// answer, the dollars what they cost at fifteen a million, the time what such
// an answer takes.
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
	// Waits says that what runs may use the rest: there is room once it has
	// settled and used less.
	Waits
	// Admitted says that the call may start, and has reserved.
	Admitted
)

// Reservation is a call that wants to start.
type Reservation struct {
	ID   string // required: unique among those that run
	Kind string // what it is likely to use as much as
	// Limits are the call's own; 0 is none.
	Limits task.Amount
	// Silent is set where the call reports no usage: it spends time only.
	Silent bool
}

// Budget holds the calls of a run to totals. It is pure: it measures and
// starts nothing, and one goroutine uses it.
//
// A call starts while what was spent, and what running calls have reserved and
// not spent yet, are less than the total. Time is not reserved: it passes for
// all of them at once.
type Budget struct {
	total   task.Amount
	spent   task.Amount // by calls that run, too
	running map[string]*reserved
	used    map[string]task.Amount // the most that one call of a kind used
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

// Spent is what the run has spent, by calls that run too.
func (b *Budget) Spent() task.Amount { return b.spent }

// Learn notes what a call of a kind has used under an earlier owner.
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

// fits reports whether there is room beside what running calls may still use.
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

// inOrder are the calls that run, always in one order: the last digit of a sum of
// dollars goes by that, and whether it is the total.
func (b *Budget) inOrder() (all []*reserved) {
	for _, id := range slices.Sorted(maps.Keys(b.running)) {
		all = append(all, b.running[id])
	}
	return all
}

// Spend counts what a running call reports. What a call reports that does not
// run was spent all the same.
func (b *Budget) Spend(id string, u task.Usage) {
	b.spent.Add(u.Spent())
	if r := b.running[id]; r != nil {
		r.used.Add(u.Spent())
	}
}

// Ending is a call that ran and does not any more.
type Ending struct {
	ID string // required
	// Usage is what it used in all, with what it had reported.
	Usage task.Usage
	Took  time.Duration
	// Whole is set where it did what it was to do. One that did not, and has
	// used nothing, tells nothing of what its kind uses.
	Whole bool
}

// End gives back what a call had reserved.
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

// hard is where running calls are stopped: what they had reserved at their
// start beyond the total. Of time, which passes for all of them at once, that
// is the most that one had reserved.
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

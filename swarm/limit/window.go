package limit

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A window begins with firstSize in a new lane, and grows to at most maxSize.
// From wideSize on it grows by slow start until a request is refused.
const (
	firstSize = 8
	wideSize  = 24
	maxSize   = 1000
)

// growth divides the size: outside slow start a window grows by a fifth of itself.
// A provider that was full then refuses at most as many requests at once.
const growth = 5

// restAfter is the time after which an empty lane begins with half of its
// window, and with no less than firstSize where it had as much.
const restAfter = time.Hour

// forgetAfter is how long a ceiling is fully trusted. The limits of a provider
// change; after that time the ceiling is tried as soon as at first.
const forgetAfter = time.Hour

// patience is the number of full windows of successes at the ceiling before the
// window tries another place. maxPatience bounds it after repeated refusals.
const (
	patience    = 8
	maxPatience = 128
)

// owedEach is the number of successes that outweigh a refusal before the window
// tries more, and maxOwed bounds their sum.
const (
	owedEach = 40
	maxOwed  = 4000
)

// A lane that was refused without being told for how long waits for firstRest,
// and twice as long after each further refusal, up to maxRest.
const (
	firstRest = time.Second
	maxRest   = time.Minute
)

// MaxTold bounds the wait that a lane may be told. An agent can report any
// time; after MaxTold the lane is tried again.
const MaxTold = time.Hour

// spreadGap is the most that lies between two of those that enter after the
// lane was told to wait: they would all come back at once.
const spreadGap = 250 * time.Millisecond

// Window is the number of agents that may be at work in a lane, learnt from the
// answers of its provider. It grows on successes, shrinks on a refusal, and
// remembers the size of that refusal. The zero value is a lane without any
// requests.
//
// It is pure: the caller gives the time, and a single goroutine uses it.
type Window struct {
	Size int `json:"size,omitempty"` // how many may be at work
	// Ceiling is the size that went well before another place was refused; 0:
	// none was.
	Ceiling int `json:"ceiling,omitempty"`
	// Good counts successes since Size has changed.
	Good int `json:"good,omitempty"`
	// Proofs counts the agents' first requests among them. Step is the needed
	// number of those, while other agents are new, before it grows again.
	Proofs int `json:"proofs,omitempty"`
	Step   int `json:"step,omitempty"`
	// Probing is set while Size is a place above the ceiling, as a test.
	Probing bool `json:"probing,omitempty"`
	// Patience is the number of full windows of successes before that.
	Patience int `json:"patience,omitempty"`
	// Owed is a number of successes that also come before that, for past
	// refusals.
	Owed int `json:"owed,omitempty"`
	// Streak counts refusals since the last success.
	Streak int `json:"streak,omitempty"`
	// Spread is the number of next entries that keep a gap.
	Spread int `json:"spread,omitempty"`

	Until   time.Time `json:"until,omitzero"`   // nothing enters before
	Cut     time.Time `json:"cut,omitzero"`     // when Size was last halved
	Refused time.Time `json:"refused,omitzero"` // when anything was last refused
	Used    time.Time `json:"used,omitzero"`    // when anything last entered or went well
}

// Success is a request that went well.
type Success struct {
	Held  int  // agents in the lane, with whose it was
	Fresh int  // those of them of which none is known to have gone well
	First bool // it was the first of its agent
	// Left is the number of requests that the provider reports as left within
	// about a minute; 0: it does not report it.
	Left int
}

// Chance is a number from 0 up to n, below it, by chance.
type Chance func(n time.Duration) time.Duration

// Random is the [Chance] for everything but tests.
func Random(n time.Duration) time.Duration {
	if n <= 0 {
		return 0
	}
	return rand.N(n)
}

// begin brings a window up to date that is new or was empty for long.
func (w *Window) begin(now time.Time, held int) {
	w.Size = max(w.Size, 0)
	w.setBack(now)
	switch {
	case w.Size == 0:
		w.resize(firstSize)
		w.Step = w.Size
	case held == 0 && !w.Used.IsZero() && now.Sub(w.Used) > restAfter:
		w.resize(max(w.Size/2, min(w.Size, firstSize)))
		w.Step, w.Streak = w.Size, 0
	}
	switch {
	case w.Patience < 1:
		w.Patience = patience
	case now.Sub(w.Refused) > forgetAfter:
		w.Patience = min(w.Patience, patience)
	}
	if w.Until.Sub(now) > MaxTold {
		w.Until = now.Add(MaxTold) // the clock was set, or somebody wrote the file
	}
}

// Restart narrows the window to the size of a new window.
func (w *Window) Restart(now time.Time) {
	w.begin(now, 0)
	w.resize(min(w.Size, firstSize))
	w.Step, w.Until = w.Size, time.Time{}
}

// setBack adjusts a window whose times lie ahead of now: the clock was set
// back. The rest of a wait stays the same.
func (w *Window) setBack(now time.Time) {
	latest := w.Used
	for _, at := range []time.Time{w.Refused, w.Cut} {
		if at.After(latest) {
			latest = at
		}
	}
	by := latest.Sub(now)
	if by <= 0 {
		return
	}
	if !w.Until.IsZero() {
		w.Until = w.Until.Add(-by)
	}
	for _, at := range []*time.Time{&w.Used, &w.Refused, &w.Cut} {
		if at.After(now) {
			*at = now
		}
	}
}

// Enter lets an agent in, or says why it has to wait. At the earliest that is
// worth trying again after wait; 0 where it is once somebody has left.
func (w *Window) Enter(now time.Time, held int, chance Chance) (why string, wait time.Duration) {
	w.begin(now, held)
	if left := w.Until.Sub(now); left > 0 {
		if w.Refused.IsZero() || left <= spreadGap {
			return "those before it have only just entered", left
		}
		return "told to wait until " + w.Until.Local().Format(time.TimeOnly), left
	}
	if held >= w.Size {
		return fmt.Sprintf("%d of %d", held, w.Size), 0
	}
	w.Used = now
	if w.Spread > 0 {
		w.Spread--
		w.Until = now.Add(chance(spreadGap))
	}
	return "", 0
}

// Passed notes a request that went well.
//
// The window grows if it is the limit that holds agents back. It needs as many
// successes as it holds agents, and at least one of each agent that it grew
// for: the latest agent may be the one too many. A wide window that was never
// refused grows by a place for each agent whose first request went well, so it
// doubles in the time of an answer. It widens at once to the number of requests
// that its provider reports as left.
func (w *Window) Passed(now time.Time, s Success) {
	w.begin(now, max(1, s.Held))
	w.Used, w.Streak, w.Owed = now, 0, max(0, w.Owed-1)
	w.Good++
	if s.First {
		w.Proofs++
	}
	if room := min(s.Left/requestsEach, maxSize); w.smooth() && s.Held >= w.Size && room > w.Size {
		w.resize(room)
		return
	}
	if w.slowStart() && s.First && s.Held >= w.Size {
		w.resize(min(w.Size+1, maxSize))
		return
	}
	if s.Held < w.Size || w.Good < w.Size || s.Fresh > 0 && w.Proofs < w.Step {
		return
	}
	switch {
	case w.Ceiling == 0:
		w.resize(min(w.Size+max(1, w.Size/growth), maxSize))
	case w.Size < w.Ceiling:
		w.resize(min(w.Size+max(1, w.Size/growth), w.Ceiling))
	case w.Probing:
		// It holds another agent. There may be room for many more: the next is
		// tried soon.
		w.Ceiling, w.Patience = w.Size, 1
		w.resize(w.Size)
	case w.Good >= w.Size*w.Patience && w.Owed == 0 && w.Size < maxSize:
		w.resize(w.Ceiling + 1)
		w.Probing = true
	}
}

// slowStart reports whether the window is wide and no request was ever refused.
func (w *Window) slowStart() bool { return w.Size >= wideSize && w.smooth() }

// smooth reports whether no request was ever refused.
func (w *Window) smooth() bool { return w.Ceiling == 0 && w.Refused.IsZero() }

// resize changes the size, and begins to count anew.
func (w *Window) resize(to int) {
	w.Step = max(0, to-w.Size)
	w.Size, w.Good, w.Proofs, w.Probing = to, 0, 0, false
}

// Refusal is a request that was refused.
type Refusal struct {
	// After is the wait that the provider asked for; 0: none.
	After time.Duration
	// Overloaded is set where the provider is short itself: that says nothing of
	// how many it allows.
	Overloaded bool
	// Since is the time when the same agent entered, or last had a request go
	// well.
	Since time.Time
}

// Refuse notes a request that was refused. Of many that were under way together
// only the first makes the window smaller.
func (w *Window) Refuse(now time.Time, r Refusal, held int, chance Chance) {
	w.begin(now, max(1, held))
	known := !w.Cut.IsZero() && !r.Since.After(w.Cut)
	w.Refused = now
	w.rest(now, r.After, known, chance)
	w.Spread, w.Owed = w.Size, min(w.Owed+owedEach, maxOwed)
	if known {
		return
	}
	if !r.Overloaded && held > 1 && (w.Ceiling == 0 || held-1 < w.Ceiling) {
		w.Ceiling = held - 1
	}
	if held > w.Size {
		return // it is on its way down already
	}
	if w.Probing {
		w.Patience = min(2*w.Patience, maxPatience)
	} else {
		w.Patience = max(w.Patience, patience)
	}
	w.resize(max(1, min(w.Size, max(held, 1))/2))
	w.Cut, w.Spread = now, w.Size
	w.Streak = min(w.Streak+1, 16)
}

// rest holds the lane back after a refusal, for as long as was told.
func (w *Window) rest(now time.Time, told time.Duration, known bool, chance Chance) {
	after := min(told, MaxTold)
	if told <= 0 {
		after = firstRest
		if !known {
			after = min(firstRest<<min(w.Streak, 16), maxRest)
		}
		after += chance(after / 2)
	}
	if until := now.Add(after); until.After(w.Until) {
		w.Until = until
	}
}

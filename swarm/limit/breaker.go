package limit

import (
	"fmt"
	"time"

	"agentswarm/swarm/task"
)

// inARow is how many failures alike open a breaker.
const inARow = 5

// Failure is how an agent failed.
type Failure struct {
	Agent  task.ID
	Kind   task.ErrorKind
	Reason string
	// RetryAfter is how long it was told to wait; 0 where it was not.
	RetryAfter time.Duration
}

// Trip is why nothing more should be started.
type Trip struct {
	Kind   task.ErrorKind
	Reason string
	Until  time.Time // when it is worth trying again; zero where nobody knows
}

// Breaker watches how agents end, and says when the rest would only fail the
// same way. It is pure; one goroutine uses it.
type Breaker struct {
	last Failure
	n    int
	trip *Trip
}

// Open is why nothing more should be started; nil where that may be.
func (b *Breaker) Open() *Trip { return b.trip }

// Passed notes an agent that did well. What an agent that is refused by its
// provider has shown, another does not undo.
func (b *Breaker) Passed() {
	b.n = 0
	if b.trip != nil && !refusal(b.trip.Kind) {
		b.trip = nil
	}
}

func refusal(k task.ErrorKind) bool { return k == task.Auth || k == task.Quota }

// Failed notes an agent that failed.
func (b *Breaker) Failed(now time.Time, f Failure) {
	if b.n > 0 && b.last.Kind == f.Kind && b.last.Reason == f.Reason {
		b.n++
	} else {
		b.n = 1
	}
	b.last = f
	if b.trip != nil {
		return
	}
	var until time.Time
	if f.RetryAfter > 0 {
		until = now.Add(f.RetryAfter)
	}
	b.trip = b.tripOf(now, f, until)
}

// TripOf is why nothing more should be started after a failure of a provider, and
// until when; zero: nobody knows.
func TripOf(now time.Time, f Failure, until time.Time) *Trip {
	return (&Breaker{}).tripOf(now, f, until)
}

func (b *Breaker) tripOf(now time.Time, f Failure, until time.Time) *Trip {
	t := &Trip{Kind: f.Kind, Until: until}
	switch {
	case f.Kind == task.Auth:
		t.Reason = fmt.Sprintf("%s was not let in (auth: %s)", f.Agent, f.Reason)
	case f.Kind == task.Quota:
		t.Reason = fmt.Sprintf("%s has used up its quota (%s)", f.Agent, f.Reason)
	case b.n >= inARow:
		t.Reason = fmt.Sprintf("%d agents in a row failed alike (%s)", b.n, f.Kind.Explain(f.Reason))
	default:
		return nil
	}
	t.Reason += "; " + t.advice(now)
	return t
}

// advice says when to resume.
func (t *Trip) advice(now time.Time) string {
	switch {
	case !t.Until.IsZero() && t.Until.Sub(now) < 12*time.Hour:
		return "resume after " + t.Until.Local().Format("15:04")
	case !t.Until.IsZero():
		return "resume after " + t.Until.Local().Format("2006-01-02 15:04")
	case t.Kind == task.Auth:
		return "resume once it is"
	case t.Kind == task.Quota:
		return "resume once there is more"
	default:
		return "resume once that is mended"
	}
}

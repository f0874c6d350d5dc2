package limit

import (
	"fmt"
	"time"

	"agentswarm/swarm/task"
)

// inARow is the number of equal failures that open a breaker.
const inARow = 5

// Failure is the failure of an agent.
type Failure struct {
	Agent  task.ID
	Kind   task.ErrorKind
	Reason string
	// RetryAfter is the wait that it was told; 0: none.
	RetryAfter time.Duration
}

// Trip is the reason to start nothing more.
type Trip struct {
	Kind   task.ErrorKind
	Reason string
	Until  time.Time // when it is worth trying again; zero: unknown
}

// Breaker watches the ends of agents, and reports when the rest would only fail
// the same way. It is pure; a single goroutine uses it.
type Breaker struct {
	last Failure
	n    int
	trip *Trip
}

// Open is the reason to start nothing more; nil: there is none.
func (b *Breaker) Open() *Trip { return b.trip }

// Passed notes the success of an agent. It does not undo a refusal of another
// agent by its provider.
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

// TripOf returns the reason to start nothing more after a failure of a
// provider, and its end; zero: unknown.
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

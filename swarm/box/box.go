// Package box owns the walls that an agent runs inside: which namespaces it
// gets, and what is set up in them before it starts.
//
// Two processes share the work. The engine starts a supervisor with the
// attributes of [Attr]; the supervisor calls [Enter], which finishes the walls
// from inside. Which rung of the ladder a system can have is found by
// [Probe], which tries.
//
// The package starts nothing and knows nothing of supervisors, agents or
// workspaces.
package box

import (
	"errors"
	"fmt"
)

// Rung is how much of the walls there is. More is always the lower number
// but zero, which is none: what nobody has probed is not relied upon.
type Rung int

const (
	// None is no walls: the caller has to find and end processes by itself.
	None Rung = iota
	// PIDNamespace is a PID namespace, whose first process takes all others
	// with it when it dies, with a /proc that shows only its processes.
	PIDNamespace
	// PIDNamespaceOldProc is the same where no new /proc can be mounted, as
	// in many containers: the processes of the machine stay visible.
	PIDNamespaceOldProc
)

func rungNames() []string {
	return []string{"none", "pid-namespace", "pid-namespace-old-proc"}
}

// String returns the rung's word.
func (r Rung) String() string {
	if names := rungNames(); r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("rung(%d)", int(r))
}

// MarshalText writes the rung's word.
func (r Rung) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rung's word.
func (r *Rung) UnmarshalText(text []byte) error {
	for i, name := range rungNames() {
		if name == string(text) {
			*r = Rung(i)
			return nil
		}
	}
	return fmt.Errorf("unknown walls %q", text)
}

// Refusal is a rung that this system does not give.
type Refusal struct {
	// Rung is what was tried.
	Rung Rung
	// Err is what the failing step said.
	Err error
}

func (r *Refusal) Error() string { return fmt.Sprintf("walls %s: %v", r.Rung, r.Err) }

func (r *Refusal) Unwrap() error { return r.Err }

// Probe returns the best rung that works here. The function given must really
// start something with Attr and Enter of a rung and say how that failed:
// nothing else tells, because kernels, containers and policies refuse at
// different steps. The error joins a *Refusal for every better rung; it
// explains the answer and does not take it back.
func Probe(try func(Rung) error) (Rung, error) {
	var refusals []error
	for _, rung := range ladder() {
		err := try(rung)
		if err == nil {
			return rung, errors.Join(refusals...)
		}
		refusals = append(refusals, &Refusal{Rung: rung, Err: err})
	}
	return None, errors.Join(refusals...)
}

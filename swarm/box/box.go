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

// Rung is how much of the walls there is. Its zero value is none: what nobody
// has probed is not relied upon.
type Rung int

const (
	// None is no walls: the caller has to find and end processes by itself.
	None Rung = iota
	// Landlock keeps an agent from writing outside of what it was given. Its
	// processes have to be found and ended by the caller.
	Landlock
	// NoOverlayOldProc is NoOverlay and OldProc together.
	NoOverlayOldProc
	// NoOverlay is Full where no overlay can be mounted: what an agent writes
	// to outside of its workspace is refused, and not kept apart.
	NoOverlay
	// OldProc is Full where no new /proc can be mounted, as in many
	// containers: the processes of the machine stay visible.
	OldProc
	// Full is a user, mount, PID and IPC namespace, a file system that can
	// only be read but for what is put back, and a /proc of its own.
	Full
)

// Namespaces reports whether the agent has namespaces of its own: the end of
// their first process ends all others.
func (r Rung) Namespaces() bool { return r >= NoOverlayOldProc && r <= Full }

// Overlay reports whether layers can be mounted.
func (r Rung) Overlay() bool { return r == OldProc || r == Full }

// FreshProc reports whether only the agent's own processes are visible.
func (r Rung) FreshProc() bool { return r == NoOverlay || r == Full }

func rungNames() []string {
	return []string{"none", "landlock", "no-overlay-old-proc", "no-overlay", "old-proc", "full"}
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

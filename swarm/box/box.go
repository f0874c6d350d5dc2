// Package box owns the sandbox that an agent runs inside: which namespaces it
// gets, or Landlock rules where there are none, and what is set up in them
// before it starts.
//
// Two processes share the work. The engine decides by [Compose] what stands
// where, and starts a supervisor with the attributes of [Attr]; the supervisor
// calls [Enter], which enters the sandbox from inside. Which level of the ladder
// a system can have is found by [Probe], which tries, and the view of HOME by
// [ProbeHome].
//
// The package starts nothing and knows nothing of supervisors, agents or
// workspaces.
package box

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Level is how much of a sandbox there is. Its zero value is none: what nobody
// has probed is not relied upon.
type Level int

const (
	// None is no sandbox: the caller has to find and end processes by itself.
	None Level = iota
	// Landlock keeps an agent from writing outside of what it was given, and
	// from reading files that are hidden. Nothing is mounted: it works where
	// things lie, /tmp is the machine's, and names, modes and sockets are not
	// guarded. Its processes have to be found and ended by the caller.
	Landlock
	// NoOverlayOldProc is NoOverlay and OldProc together.
	NoOverlayOldProc
	// NoOverlay is Full where no overlay can be mounted: the view of HOME is
	// Apart, and what an agent writes to elsewhere is refused and not kept apart.
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
func (r Level) Namespaces() bool { return r >= NoOverlayOldProc && r <= Full }

// Overlay reports whether layers can be mounted.
func (r Level) Overlay() bool { return r == OldProc || r == Full }

// FreshProc reports whether only the agent's own processes are visible.
func (r Level) FreshProc() bool { return r == NoOverlay || r == Full }

// Short names a level for a line of text.
func (r Level) Short() string {
	switch r {
	case Full:
		return "full"
	case OldProc:
		return "full (but the machine's /proc)"
	case NoOverlay:
		return "full (but no overlays)"
	case NoOverlayOldProc:
		return "full (but no overlays, and the machine's /proc)"
	case Landlock:
		return "Landlock only"
	default:
		return "none"
	}
}

// Guarantee is a sentence about the places that an agent on a level can write to, and when its processes end.
// shared are the folders of [Shared].
func (r Level) Guarantee(shared []string) string {
	const ends = "the kernel ends all processes of an agent, even if swarm is killed; "
	switch r {
	case Full, OldProc:
		return ends + "an agent writes only to its workspace and to private copies of HOME and /tmp"
	case NoOverlay, NoOverlayOldProc:
		return ends + "an agent writes only to its workspace, its own HOME and a private /tmp"
	case Landlock:
		return "an agent writes only to its workspace, its own HOME and TMPDIR" + sharedWords(shared) +
			", and cannot read secrets and the state folder; its processes are found by their descent and ended"
	default:
		return "processes of an agent are found by their descent and ended; one that hides " +
			"from that may outlive its run if its supervisor is killed too"
	}
}

// sharedWords continues a list with the shared folders that agents write to, and names
// those that they do not.
func sharedWords(shared []string) string {
	closed := slices.DeleteFunc(sharedFolders(), func(path string) bool { return slices.Contains(shared, path) || !isDir(path) })
	text := ""
	if len(shared) > 0 {
		text = " and the machine's " + listed(shared)
	}
	if len(closed) > 0 {
		text += " (not to " + listed(closed) + ", with files in it that agents never write to or read)"
	}
	return text
}

// listed joins words with commas and a last "and".
func listed(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Limits is a sentence about the parts of the machine that a level does not isolate.
func (r Level) Limits() string {
	const shared = "agents share your network, also servers on localhost; "
	switch {
	case r == None:
		return "agents can read and write everything that you can; only their working tree is their own"
	case r == Landlock:
		return shared + "they can list names in hidden folders, change modes and times of your files, write to your " +
			"terminals, and reach sockets that lie in folders, such as docker's"
	}
	read := "they can read your files, except secrets and sockets"
	if !r.Overlay() {
		read = "they can read your files, except secrets, and reach sockets in your HOME"
	}
	if r.FreshProc() {
		return shared + read
	}
	return shared + read + ", and see the processes of the machine, but not end them; their own sandboxes may fail"
}

func levelNames() []string {
	return []string{"none", "landlock", "no-overlay-old-proc", "no-overlay", "old-proc", "full"}
}

// String returns the level's word.
func (r Level) String() string {
	if names := levelNames(); r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("level(%d)", int(r))
}

// MarshalText writes the level's word.
func (r Level) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the level's word.
func (r *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames() {
		if name == string(text) {
			*r = Level(i)
			return nil
		}
	}
	return fmt.Errorf("unknown sandbox %q", text)
}

// Refusal is one or more levels that this system does not give.
type Refusal struct {
	// Level is what was tried first, and More are the next, which failed alike.
	Level Level
	More  []Level
	// Err is what the failing step said.
	Err error
}

func (r *Refusal) Error() string {
	words := r.Level.String()
	for _, level := range r.More {
		words += ", " + level.String()
	}
	return fmt.Sprintf("sandbox %s: %v", words, r.Err)
}

func (r *Refusal) Unwrap() error { return r.Err }

// Probe returns the best level that works here. The function given must really
// start something with Attr and Enter of a level and say how that failed:
// nothing else tells, because kernels, containers and policies refuse at
// different steps. The error joins a *Refusal for every reason why better levels
// were refused; it explains the answer and does not take it back.
func Probe(try func(Level) error) (Level, error) {
	var refusals []error
	var last *Refusal
	for _, level := range ladder() {
		err := try(level)
		switch {
		case err == nil:
			return level, errors.Join(refusals...)
		case last != nil && last.Err.Error() == err.Error():
			last.More = append(last.More, level)
		default:
			last = &Refusal{Level: level, Err: err}
			refusals = append(refusals, last)
		}
	}
	return None, errors.Join(refusals...)
}

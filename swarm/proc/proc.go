// Package proc owns child processes: it starts a supervisor for each program.
// The supervisor runs the program, keeps its output, ends it, and answers for
// all its descendants.
//
// Three processes stand in a row: the engine, its supervisor (this binary
// again, whose body is [Supervise]) and the agent. Two pipes join the first
// two. The control pipe carries the [Spec] and then orders, and its end means
// that the engine is gone or wants everything dead at once. The report pipe
// carries the byte counts of the output and, last, the [Exit]. That report is
// the truth; the supervisor's own exit status is not.
//
// An agent may instead be given a [Terminal]. Then the engine itself keeps the
// output, because it holds the other end of the terminal; the supervisor passes
// the agent's end on and looks after processes only.
//
// A person's commands run beside an agent, in the same sandbox, by [Visit]
// through its door. Processes without a supervisor are here, too: members of a
// [Keeper], such as git, which it ends with this process; a [Helper], which is
// this binary again; a command in the [Foreground] of a person's terminal; and
// a process that outlives this process, by [Detach].
//
// The package does not choose the program, its environment, the number of
// tries, or its sandbox. The sandbox is handed through: the system call
// attributes by [Launcher], the rest by the function given to [Supervise].
package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// DefaultGrace is the time that an agent may take to end after SIGTERM.
	DefaultGrace = 2 * time.Second
	// DefaultOutputLimit is the number of bytes that an agent may print.
	DefaultOutputLimit = 1 << 30
)

// Spec describes the program for a supervisor. It travels on a pipe and never
// in the supervisor's arguments, because every user of a machine can list
// those.
type Spec struct {
	Run  string   // the run it belongs to; Sweep finds its orphans by it
	Argv []string // required; a name without a slash is sought in Env's PATH
	Env  []string // the whole environment; nothing is added or inherited
	Dir  string   // required, absolute: the working directory

	Stdin string // a file to read; empty means /dev/null
	Pipe  bool   // stdin is fed by Write and CloseStdin instead

	// Terminal puts the process on a pseudo-terminal of this size, which is
	// its stdin, stdout, stderr and controlling terminal. All that is shown
	// goes to Stdout; Stderr stays empty, and Stdin and Pipe are refused.
	// The name of the terminal's kind, TERM, belongs into Env.
	Terminal *Size

	Stdout string // required: a file that must not exist yet
	Stderr string // required: a file that must not exist yet
	// Merge has stderr go where stdout does, in the order of the writes.
	// Stderr stays empty.
	Merge bool
	// Times notes beside Stdout when it was printed; see [Marks].
	Times bool

	OutputLimit int64         // bytes of both together; 0: DefaultOutputLimit
	Grace       time.Duration // from SIGTERM to SIGKILL; 0: DefaultGrace

	// Low gives the program the lowest priority for processors.
	Low bool

	Sandbox json.RawMessage // handed as it is to the function given to Supervise

	// Door is the absolute path of a socket through which [Visit] runs commands
	// beside the agent, in the same sandbox. The socket is made for this
	// process and removed with it. Its folder must exist, and no other user may
	// enter it. Without a Door there are no visits.
	Door string

	// Started is called with the identity of the supervisor, by which Alive and
	// KillOrphan recognize it. At that time the supervisor has no program yet,
	// so nothing has begun. An error of Started ends the start. It may be nil.
	Started func(pid int, start uint64) error `json:"-"`
}

// check refuses a spec that no supervisor could carry out.
func (s *Spec) check() error {
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errors.New("start a process: no command is given")
	case !filepath.IsAbs(s.Dir):
		return fmt.Errorf("start %s: working directory %q is not absolute",
			s.Argv[0], s.Dir)
	case s.Stdout == "" || s.Stderr == "":
		return fmt.Errorf("start %s: files for stdout and stderr are required",
			s.Argv[0])
	case s.Pipe && s.Stdin != "":
		return fmt.Errorf("start %s: stdin is either a pipe or the file %s",
			s.Argv[0], s.Stdin)
	case s.Terminal != nil && (s.Pipe || s.Stdin != ""):
		return fmt.Errorf("start %s: on a terminal stdin is the terminal, and "+
			"neither a pipe nor a file", s.Argv[0])
	case s.Terminal != nil && !s.Terminal.possible():
		return fmt.Errorf("start %s: a terminal of %s: both must be at least 1",
			s.Argv[0], s.Terminal)
	case s.Door != "" && !filepath.IsAbs(s.Door):
		return fmt.Errorf("start %s: the door %q is not absolute", s.Argv[0], s.Door)
	case s.OutputLimit < 0 || s.Grace < 0:
		return fmt.Errorf("start %s: a limit cannot be negative", s.Argv[0])
	}
	return nil
}

// Progress counts the bytes that stand in the output files.
type Progress struct {
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
}

// Reason says why a process is over. Its zero value is Lost: nothing is known.
type Reason int

const (
	// Lost means that the supervisor ended without a report. All that it
	// supervised has been killed.
	Lost Reason = iota
	// Exited means that the process ended: by itself, or by a signal.
	Exited
	// StartFailed means that the process never ran; Text says why.
	StartFailed
	// OutputLimit means that it printed too much and was killed.
	OutputLimit
	// Disk means that it ended like Exited, but not all that it printed could
	// be written; Text says why.
	Disk
)

func reasonNames() []string {
	return []string{"lost", "exited", "start_failed", "output_limit", "disk"}
}

// String returns the reason's word.
func (r Reason) String() string {
	if names := reasonNames(); r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("reason(%d)", int(r))
}

// MarshalText writes the reason's word.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the reason's word.
func (r *Reason) UnmarshalText(text []byte) error {
	for i, name := range reasonNames() {
		if name == string(text) {
			*r = Reason(i)
			return nil
		}
	}
	return fmt.Errorf("unknown reason %q", text)
}

// Exit is the end of a process and everything below it.
type Exit struct {
	Reason Reason `json:"reason"`
	Text   string `json:"text,omitempty"` // a single line, for a person

	// Temporary marks a start that failed for want of something that may be
	// there later. The same start may be tried again.
	Temporary bool `json:"temporary,omitempty"`

	// Code is 128 + the signal if a signal ended it, and -1 if it is not known.
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"` // for example SIGKILL

	Left    int `json:"left,omitempty"`    // others that had to be killed
	Escaped int `json:"escaped,omitempty"` // another user's: cannot be killed

	CPU    time.Duration `json:"cpu_ns"`  // of everything below the supervisor
	MaxRSS int64         `json:"max_rss"` // bytes, of the largest process

	StdoutBytes int64 `json:"stdout_bytes"`      // in the file
	StderrBytes int64 `json:"stderr_bytes"`      // in the file
	Dropped     int64 `json:"dropped,omitempty"` // printed, but not kept
}

// AllEnded reports whether every process below the supervisor certainly ended.
func (x Exit) AllEnded() bool { return x.Reason != Lost && x.Escaped == 0 }

// StartError is a supervisor that could not be started.
type StartError struct {
	// Temporary means that the same start may succeed after a while.
	Temporary bool
	// Err is the error of the system.
	Err error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("could not be started: %v", e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }

// passes reports whether a failed start may succeed later. clone returns ENOSPC
// and EUSERS when all namespaces that a user may have are taken. ETXTBSY comes
// from a sibling that was forked while the file was written.
func passes(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.ETXTBSY, syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE,
		syscall.ENFILE, syscall.ENOSPC, syscall.EUSERS,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

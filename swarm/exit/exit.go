package exit

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/project"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/workflow/library"
)

// Code is a process's exit code. The zero value is success, as the operating
// system has it; an error therefore never maps to it.
type Code int

// The exit codes, all of them. Scripts depend on the numbers.
const (
	OK          Code = 0
	Failed      Code = 1   // swarm itself failed
	Usage       Code = 2   // usage, configuration or script refused
	Degraded    Code = 3   // some agents failed
	Conflict    Code = 4   // patches conflict, or are left out for a filter, a submodule or a lost commit
	Approval    Code = 5   // an approval was needed, nobody could give it
	Paused      Code = 6   // budget or provider limit; resumable
	Verify      Code = 7   // verification failed
	Script      Code = 8   // the script threw
	Timeout     Code = 124 // --run-timeout, or wait --timeout
	Interrupted Code = 130 // SIGINT
	Terminated  Code = 143 // SIGTERM
)

// Precedence lists the codes in the order in which they win over each other.
func Precedence() []Code {
	return []Code{
		Usage, Failed, Interrupted, Terminated, Paused,
		Timeout, Script, Approval, Degraded, Verify,
		Conflict,
	}
}

// First picks, of the codes that apply, the exit code of the process.
func First(codes ...Code) Code {
	for _, want := range Precedence() {
		for _, c := range codes {
			if c == want {
				return c
			}
		}
	}
	return OK
}

// kind is the error kind of a code whose error does not name a kind itself.
func (c Code) kind() string {
	switch c {
	case Usage:
		return "invalid"
	case Conflict:
		return "conflict"
	case Approval:
		return "refused"
	case Paused:
		return "budget"
	case Timeout:
		return "timeout"
	case Interrupted, Terminated:
		return "stopped"
	case OK, Failed, Degraded, Verify, Script:
		return "other"
	default:
		return "other"
	}
}

// UsageError is a command line that is refused before anything has started.
type UsageError struct {
	Text   string // required: the fault, its place, and the right form
	Advice string // a further line, such as a command to type
}

func (e *UsageError) Error() string { return e.Text }

// ExitCode is always [Usage].
func (e *UsageError) ExitCode() int { return int(Usage) }

// Hint is printed on a line of its own.
func (e *UsageError) Hint() string { return e.Advice }

// Usagef refuses a command line in a single line of text.
func Usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// Error gives an error its exit code. Without Err it is silent: the
// command has already said everything, and only the code is left to report.
type Error struct {
	Code Code  // required
	Err  error // nil: print nothing
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the code that was given.
func (e *Error) ExitCode() int { return int(e.Code) }

// CommandError is the end of a command of the user's. Its exit code can be any.
type CommandError struct {
	Code int   // of the command
	Err  error // the reason why the command did not run; nil: it ran
}

func (e *CommandError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// SignalError is the cause of a context that a signal has cancelled.
type SignalError struct {
	Signal syscall.Signal // required
}

func (e *SignalError) Error() string {
	if e.Signal == unix.SIGINT {
		return "stopped by Ctrl-C"
	}
	return "stopped by " + unix.SignalName(e.Signal)
}

// ExitCode is 130 for SIGINT; every other signal counts as SIGTERM.
func (e *SignalError) ExitCode() int {
	if e.Signal == syscall.SIGINT {
		return int(Interrupted)
	}
	return int(Terminated)
}

// CodeOf is the only way from an error to an exit code. The outermost error
// that states a code decides; of joined errors the code that comes first in the
// order of precedence. It never looks at the text.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	if c, ok := statedCode(err); ok {
		return c
	}
	switch u := err.(type) { // this walks the tree itself
	case interface{ Unwrap() error }:
		if inner := u.Unwrap(); inner != nil {
			return CodeOf(inner)
		}
	case interface{ Unwrap() []error }:
		var codes []Code
		for _, inner := range u.Unwrap() {
			codes = append(codes, CodeOf(inner))
		}
		if c := First(codes...); c != OK {
			return c
		}
	}
	return Failed
}

// statedCode is the code that err itself, not a wrapped error, states.
func statedCode(err error) (Code, bool) {
	if command, ok := err.(*CommandError); ok { // see codeOf
		return Code(command.Code), true // the user's own command: any code
	}
	switch err.(type) { // see codeOf
	case *refusal.Error, *lander.NothingError, *lander.BlockedError:
		return Usage, true
	case *refusal.Cause, *project.StateError:
		return Usage, true
	case *lander.MisfitError:
		return Conflict, true
	}
	if e, ok := err.(*library.Error); ok { // see codeOf
		if e.Thrown {
			return Script, true
		}
		return Usage, true
	}
	own, ok := err.(interface{ ExitCode() int }) // see codeOf
	if !ok {
		return OK, false
	}
	// The exit status of a child, as os/exec reports it, has the same method
	// and means something else: git's 128, or an agent's 2, is not ours.
	if _, child := err.(interface{ Pid() int }); child { // see codeOf
		return OK, false
	}
	c := First(Code(own.ExitCode()))
	return c, c != OK
}

// HintOf returns the advice of err; empty: it has none.
func HintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// KindOf is the word for err in JSON.
func KindOf(err error) string {
	var k interface{ Kind() string }
	if errors.As(err, &k) && k.Kind() != "" {
		return k.Kind()
	}
	return CodeOf(err).kind()
}

// Silent tells that err asks for an exit code and for nothing else.
func Silent(err error) bool {
	var command *CommandError
	if errors.As(err, &command) {
		return command.Err == nil
	}
	var e *Error
	return errors.As(err, &e) && e.Err == nil && e.Error() == err.Error()
}

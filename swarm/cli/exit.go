package cli

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
	CodeOK          Code = 0
	CodeFailed      Code = 1   // swarm itself failed
	CodeUsage       Code = 2   // usage, configuration or script refused
	CodeDegraded    Code = 3   // some agents failed
	CodeConflict    Code = 4   // patches conflict, or are left out for a filter, a submodule or a lost commit
	CodeApproval    Code = 5   // an approval was needed, nobody could give it
	CodePaused      Code = 6   // budget or provider limit; resumable
	CodeVerify      Code = 7   // verification failed
	CodeScript      Code = 8   // the script threw
	CodeTimeout     Code = 124 // --run-timeout, or wait --timeout
	CodeInterrupted Code = 130 // SIGINT
	CodeTerminated  Code = 143 // SIGTERM
)

// precedence lists the codes in the order in which they win over each other.
func precedence() []Code {
	return []Code{
		CodeUsage, CodeFailed, CodeInterrupted, CodeTerminated, CodePaused,
		CodeTimeout, CodeScript, CodeApproval, CodeDegraded, CodeVerify,
		CodeConflict,
	}
}

// First picks, of the codes that apply, the one that a process exits with.
func First(codes ...Code) Code {
	for _, want := range precedence() {
		for _, c := range codes {
			if c == want {
				return c
			}
		}
	}
	return CodeOK
}

// kind is the error kind of a code whose error does not name one itself.
func (c Code) kind() string {
	switch c {
	case CodeUsage:
		return "invalid"
	case CodeConflict:
		return "conflict"
	case CodeApproval:
		return "refused"
	case CodePaused:
		return "budget"
	case CodeTimeout:
		return "timeout"
	case CodeInterrupted, CodeTerminated:
		return "stopped"
	case CodeOK, CodeFailed, CodeDegraded, CodeVerify, CodeScript:
		return "other"
	default:
		return "other"
	}
}

// UsageError is a command line that is refused before anything has started.
type UsageError struct {
	Text   string // required: what, where, and what would be right
	Advice string // a further line, such as a command to type
}

func (e *UsageError) Error() string { return e.Text }

// ExitCode is always [CodeUsage].
func (e *UsageError) ExitCode() int { return int(CodeUsage) }

// Hint is printed on a line of its own.
func (e *UsageError) Hint() string { return e.Advice }

// usagef refuses a command line in one line of text.
func usagef(format string, args ...any) error {
	return &UsageError{Text: fmt.Sprintf(format, args...)}
}

// ExitError gives an error its exit code. Without Err it is silent: the
// command has already said everything, and only the code is left to report.
type ExitError struct {
	Code Code  // required
	Err  error // nil: print nothing
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode is the code that was given.
func (e *ExitError) ExitCode() int { return int(e.Code) }

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
		return int(CodeInterrupted)
	}
	return int(CodeTerminated)
}

// codeOf is the one way from an error to an exit code. The outermost error
// that states a code wins; of joined errors the code that comes first in the
// order of precedence. Text is never looked at.
func codeOf(err error) Code {
	if err == nil {
		return CodeOK
	}
	if c, ok := statedCode(err); ok {
		return c
	}
	switch u := err.(type) { // this walks the tree itself
	case interface{ Unwrap() error }:
		if inner := u.Unwrap(); inner != nil {
			return codeOf(inner)
		}
	case interface{ Unwrap() []error }:
		var codes []Code
		for _, inner := range u.Unwrap() {
			codes = append(codes, codeOf(inner))
		}
		if c := First(codes...); c != CodeOK {
			return c
		}
	}
	return CodeFailed
}

// statedCode is the code that err itself, not what it wraps, states.
func statedCode(err error) (Code, bool) {
	if command, ok := err.(*endedError); ok { // see codeOf
		return Code(command.code), true // the user's own command: any code
	}
	switch err.(type) { // see codeOf
	case *refusal.Error, *lander.NothingError, *lander.BlockedError:
		return CodeUsage, true
	case *refusal.Cause, *project.StateError:
		return CodeUsage, true
	case *lander.MisfitError:
		return CodeConflict, true
	}
	if e, ok := err.(*library.Error); ok { // see codeOf
		if e.Thrown {
			return CodeScript, true
		}
		return CodeUsage, true
	}
	own, ok := err.(interface{ ExitCode() int }) // see codeOf
	if !ok {
		return CodeOK, false
	}
	// The exit status of a child, as os/exec reports it, has the same method
	// and means something else: git's 128, or an agent's 2, is not ours.
	if _, child := err.(interface{ Pid() int }); child { // see codeOf
		return CodeOK, false
	}
	c := First(Code(own.ExitCode()))
	return c, c != CodeOK
}

// hintOf is what err suggests to do, or nothing.
func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// kindOf is the word for err in JSON.
func kindOf(err error) string {
	var k interface{ Kind() string }
	if errors.As(err, &k) && k.Kind() != "" {
		return k.Kind()
	}
	return codeOf(err).kind()
}

// silent tells that err asks for an exit code and for nothing else.
func silent(err error) bool {
	var command *endedError
	if errors.As(err, &command) {
		return command.err == nil
	}
	var e *ExitError
	return errors.As(err, &e) && e.Err == nil && e.Error() == err.Error()
}

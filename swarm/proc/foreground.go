package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// ForegroundRequest is a command that a person runs where they are: on their
// terminal, with their streams. Nothing supervises it.
type ForegroundRequest struct {
	Argv []string // required; a name without a slash is sought in Env's PATH
	Env  []string // the whole environment; nothing is added or inherited
	Dir  string   // required, absolute: the working directory

	// The streams. A file is handed over as it is.
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	// Signals are passed on to the command as they come, but for SIGINT and
	// SIGQUIT, which a terminal sends to all in the foreground by itself.
	Signals <-chan os.Signal
	// Started is called with the command's identity, by which Alive knows it,
	// before any of the command runs. Its error ends the command. It may be nil.
	Started func(pid int, start uint64) error
	// Waiter is a command line whose main calls [BecomeCommand] with the words
	// after it. Required with Started.
	Waiter []string
}

// CommandError is a command that could not be run.
type CommandError struct{ Err error }

func (e *CommandError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the system.
func (e *CommandError) Unwrap() error { return e.Err }

// Code returns the exit code of a shell in this case: 127 if there is no such
// command, 126 if it cannot be run.
func (e *CommandError) Code() int {
	if errors.Is(e.Err, errNotFound) || errors.Is(e.Err, fs.ErrNotExist) {
		return 127
	}
	return 126
}

// Foreground runs a command in the process group of this process, waits for its
// end, and returns its exit code: 128 + the signal if a signal ended it. It
// returns a [*CommandError] for a command that cannot be run.
//
// Processes that the command leaves behind stay alive: they are the user's.
func Foreground(r ForegroundRequest) (code int, err error) {
	if len(r.Argv) == 0 || r.Argv[0] == "" {
		return 0, &CommandError{Err: errors.New("no command is given")}
	}
	path, err := find(r.Argv[0], r.Dir, r.Env)
	if err != nil {
		return 0, &CommandError{Err: err}
	}
	cmd := &exec.Cmd{
		Path: path, Args: r.Argv, Env: r.Env, Dir: r.Dir,
		Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr,
	}
	if r.Started != nil {
		err = startRecorded(cmd, &r)
	} else if err = cmd.Start(); err != nil {
		// The file was there a moment ago: its interpreter is missing.
		err = &CommandError{Err: fmt.Errorf("command %s: %v", r.Argv[0], err)}
	}
	if err != nil {
		return 0, err
	}
	over, passed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(passed)
		passOn(cmd.Process, r.Signals, over)
	}()
	err = cmd.Wait()
	close(over)
	<-passed
	return exitCode(cmd, err)
}

// passOn hands signals to a process until over is closed.
func passOn(to *os.Process, signals <-chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			if s != syscall.SIGINT && s != syscall.SIGQUIT {
				_ = to.Signal(s) // a process that has just ended needs none
			}
		case <-over:
			return
		}
	}
}

// reap waits for a command that was killed; how it ended is known.
func reap(cmd *exec.Cmd) error {
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) {
		return err
	}
	return nil
}

// exitCode is the exit code of a command, as shells report it.
func exitCode(cmd *exec.Cmd, err error) (int, error) {
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return 0, fmt.Errorf("wait for %s: %w", cmd.Args[0], err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return status.ExitStatus(), nil
}

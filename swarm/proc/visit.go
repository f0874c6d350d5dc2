package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone answers a visit to an agent that is over, or was over before the
// visit was.
var ErrGone = errors.New("visit an agent: it is over")

// ErrNoSupervisor is the [ErrGone] of a visit that never began: no supervisor is
// behind the door.
var ErrNoSupervisor = fmt.Errorf("%w: no supervisor listens", ErrGone)

// RefusedError is a visit that was not let in.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "visit an agent: refused: " + e.Reason }

// VisitRequest is a command to run beside a live agent: in its sandbox, with
// its view of files, but in a session of its own.
type VisitRequest struct {
	Door string // required: the Spec.Door that the agent was started with

	Argv []string // required; a name without a slash is sought in Env's PATH
	Env  []string // the whole environment but for Adopt
	// Adopt names variables that the command gets with the agent's values. A
	// variable that the agent does not have keeps the value of Env.
	Adopt []string
	Dir   string // required, absolute, as seen from inside

	// Files are stdin, stdout and stderr, handed over as they are; nil is
	// /dev/null. Agents can reach a visitor's descriptors, so a person's own
	// terminal is better not among them: use Screen for it.
	Files [3]*os.File
	// Screen, if not nil, replaces Files: it is the command's stdin, stdout,
	// stderr and controlling terminal. Its maker shows its output.
	Screen *Screen

	// Signals are passed on to the command's group as they come: SIGINT,
	// SIGTERM, SIGHUP, SIGQUIT and the like. Others are dropped. It may be nil.
	Signals <-chan os.Signal
}

// VisitExit is the end of a visitor.
type VisitExit struct {
	Code   int    `json:"code"`             // 128 + the signal, if a signal ended it
	Signal string `json:"signal,omitempty"` // for example SIGKILL
}

// check refuses a program that could not be started anywhere.
func (p *program) check() error {
	switch {
	case len(p.argv) == 0 || p.argv[0] == "":
		return errors.New("no command is given")
	case !filepath.IsAbs(p.dir):
		return fmt.Errorf("working directory %q is not absolute", p.dir)
	}
	return nil
}

// Visit runs a command in the sandbox of a live agent and returns its exit.
// When ctx ends, or this process does, the command is killed with its
// descendants. If the command ends by itself, its remaining processes live on
// as the agent's.
//
// The error is [ErrGone] if the agent ended, [ErrNoSupervisor] if it had ended
// before, a [*RefusedError] if the visit is refused, and a [*CommandError] if
// the command cannot be run.
func Visit(ctx context.Context, r VisitRequest) (VisitExit, error) {
	line, err := r.encode()
	if err != nil {
		return VisitExit{}, err
	}
	c, err := knock(ctx, r.Door)
	if err != nil {
		return VisitExit{}, err
	}
	defer c.Close()
	// A visitor that is refused learns it by reading.
	if err := r.hand(c, line); err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		return VisitExit{}, fmt.Errorf("visit an agent: %w", err)
	}
	over, passed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(passed)
		forwardSignals(c, r.Signals, over)
	}()
	unhook := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	answer, err := bufio.NewReaderSize(c, mostAsked).ReadBytes('\n')
	close(over)
	_ = c.SetWriteDeadline(time.Unix(1, 0)) // a signal has no visitor to go to
	<-passed
	if !unhook() && err != nil {
		return VisitExit{}, context.Cause(ctx)
	}
	if err != nil {
		return VisitExit{}, ErrGone
	}
	return readAnswer(answer)
}

// encode writes the request, if it could be carried out.
func (r *VisitRequest) encode() ([]byte, error) {
	p := program{argv: r.Argv, dir: r.Dir}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("visit an agent: %w", err)
	}
	line, err := encodeLine(wireVisit{
		Argv: convert[exact](r.Argv), Env: convert[exact](r.Env), Adopt: convert[exact](r.Adopt),
		Dir: exact(r.Dir), Terminal: r.Screen != nil,
	})
	if err == nil && len(line) > mostAsked {
		err = fmt.Errorf("its arguments and environment are longer than %d bytes", mostAsked)
	}
	if err != nil {
		return nil, fmt.Errorf("visit an agent: %w", err)
	}
	return line, nil
}

// knock connects to a door, if the socket is a supervisor's door.
func knock(ctx context.Context, door string) (*os.File, error) {
	fd, err := newSocket()
	if err != nil {
		return nil, fmt.Errorf("visit an agent: %w", err)
	}
	c, err := waitable(fd, "visit")
	if err != nil {
		return nil, fmt.Errorf("visit an agent: %w", err)
	}
	if err = reach(ctx, fd, door); err == nil {
		err = refuseListener(c)
	}
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED):
		err = ErrNoSupervisor
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	default:
		err = fmt.Errorf("visit an agent: reach %s: %w", door, err)
	}
	return nil, errors.Join(err, c.Close())
}

// reach connects, and waits while too many others do.
func reach(ctx context.Context, fd int, door string) error {
	at, done, err := doorAddress(door)
	if err != nil {
		return err
	}
	defer done()
	for {
		if err = unix.Connect(fd, at); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-time.After(time.Millisecond): // nothing tells when there is room
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hand sends the request with its descriptors.
func (r *VisitRequest) hand(c *os.File, line []byte) error {
	var files, opened []*os.File
	defer func() { closeAll(opened) }()
	if r.Screen != nil {
		files = []*os.File{r.Screen.slave}
		opened = append(opened, r.Screen.slave) // the visitor's from now on
	} else {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		opened = append(opened, null)
		for _, f := range r.Files {
			if f == nil {
				f = null
			}
			files = append(files, f)
		}
	}
	w, err := openWitness()
	if err != nil {
		return err
	}
	opened = append(opened, w)
	return pass(c, line, append(files, w))
}

// forwardSignals passes signals on until over is closed.
func forwardSignals(c *os.File, signals <-chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case got := <-signals:
			sig, ok := got.(syscall.Signal)
			if !ok {
				continue
			}
			if line, err := encodeLine(wireWord{Signal: signalName(sig)}); err == nil {
				_, _ = c.Write(line) // the reader reports that the visitor is gone
			}
		case <-over:
			return
		}
	}
}

// readAnswer turns the answer into the results of Visit.
func readAnswer(line []byte) (VisitExit, error) {
	var a wireAnswer
	if err := json.Unmarshal(line, &a); err != nil {
		return VisitExit{}, fmt.Errorf("visit an agent: read the answer: %w", err)
	}
	switch {
	case a.Exit != nil:
		return *a.Exit, nil
	case a.Missing != "":
		return VisitExit{}, &CommandError{Err: &missingError{a.Missing}}
	case a.Failed != "":
		return VisitExit{}, &CommandError{Err: errors.New(a.Failed)}
	default:
		return VisitExit{}, &RefusedError{Reason: a.Refused}
	}
}

// missingError is a command that is not there, as the supervisor has told it.
type missingError struct{ text string }

func (e *missingError) Error() string { return e.text }
func (e *missingError) Unwrap() error { return errNotFound }

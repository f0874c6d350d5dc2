package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	// mostVisits is the number of visits to an agent at the same time.
	mostVisits = tagVisit
	// mostAsked bounds a request: its arguments and environment.
	mostAsked = 1 << 20
	// mostSaid bounds any later line of a visit, which is short.
	mostSaid = 4 << 10
	// mostPassed is the number of descriptors with a request: three streams or
	// a terminal, and the witness.
	mostPassed = 4
	// asked bounds the time until a request has arrived.
	asked = 5 * time.Second
)

// wireVisit is a request: a single line, whose first byte carries descriptors.
type wireVisit struct {
	Argv     []exact `json:"argv"`
	Env      []exact `json:"env"`
	Adopt    []exact `json:"adopt,omitempty"`
	Dir      exact   `json:"dir"`
	Terminal bool    `json:"terminal,omitempty"`
}

// streams is the number of descriptors for the program.
func (w *wireVisit) streams() int {
	if w.Terminal {
		return 1
	}
	return 3
}

// wireWord may follow a request: a signal for the visitor's group.
type wireWord struct {
	Signal string `json:"signal"`
}

// wireAnswer is the only line of the answer; exactly one field is set.
type wireAnswer struct {
	Exit    *VisitExit `json:"exit,omitempty"`
	Refused string     `json:"refused,omitempty"`
	// Failed is the reason why the command could not be run.
	Failed string `json:"failed,omitempty"`
	// Missing is the same where there is no such command.
	Missing string `json:"missing,omitempty"`
}

// passable are the signals that a visit passes on, by name.
func passable() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP,
		"SIGQUIT": syscall.SIGQUIT, "SIGUSR1": syscall.SIGUSR1, "SIGUSR2": syscall.SIGUSR2,
		"SIGWINCH": syscall.SIGWINCH, "SIGCONT": syscall.SIGCONT, "SIGTSTP": syscall.SIGTSTP,
	}
}

// encodeLine writes a line of a visit.
func encodeLine(v any) ([]byte, error) {
	line, err := json.Marshal(v)
	return append(line, '\n'), err
}

// decodeVisit reads a request and refuses a request that cannot be carried out.
func decodeVisit(line []byte) (program, int, error) {
	var w wireVisit
	if err := json.Unmarshal(line, &w); err != nil {
		return program{}, 0, fmt.Errorf("read the request: %w", err)
	}
	p := program{
		argv: convert[string](w.Argv), env: convert[string](w.Env), adopt: convert[string](w.Adopt),
		dir: string(w.Dir), terminal: w.Terminal,
	}
	return p, w.streams(), p.check()
}

// decodeWord reads a signal; false where it is none that is passed on.
func decodeWord(line []byte) (syscall.Signal, bool) {
	var w wireWord
	if json.Unmarshal(line, &w) != nil {
		return 0, false
	}
	sig, ok := passable()[w.Signal]
	return sig, ok
}

// readVisit reads a request and the descriptors that came with it: those of
// the program's streams, and the witness. None is open when there is an error.
func readVisit(c *os.File) (p program, w *os.File, err error) {
	var files []*os.File
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	line, buf := []byte(nil), make([]byte, 32<<10)
	for !bytes.HasSuffix(line, []byte("\n")) {
		n, came, err := receive(c, buf)
		files = append(files, came...)
		line = append(line, buf[:n]...)
		switch {
		case err != nil:
			return p, nil, fmt.Errorf("read the request: %w", err)
		case n == 0:
			return p, nil, io.ErrUnexpectedEOF
		case len(line) > mostAsked:
			return p, nil, fmt.Errorf("the request has more than %d bytes", mostAsked)
		case len(files) > mostPassed:
			return p, nil, errors.New("more descriptors came than are needed")
		}
	}
	p, streams, err := decodeVisit(line)
	if err != nil {
		return p, nil, err
	}
	if len(files) != streams+1 {
		return p, nil, fmt.Errorf("%d descriptors came with the request, not %d", len(files), streams+1)
	}
	p.files = files[:streams]
	if p.terminal {
		p.files = []*os.File{files[0], files[0], files[0]}
	}
	return p, files[streams], nil
}

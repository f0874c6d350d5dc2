package proc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience bounds the time until a supervisor has killed everything, before it
// counts as stuck and is killed itself.
const patience = 10 * time.Second

// ErrNoStdin answers a write to a process that was started without Spec.Pipe.
var ErrNoStdin = errors.New("write to a process: its stdin is not a pipe")

// Process is a supervisor and all that it runs, as the engine sees them.
type Process struct {
	cmd  *exec.Cmd
	near *pipes
	tag  uint64
	// terminal is nil without Spec.Terminal.
	terminal *Terminal
	start    uint64
	door     string // empty without Spec.Door
	// patience is the time for which Kill waits for a supervisor that may be
	// stuck.
	patience time.Duration

	output chan Progress
	done   chan struct{} // closed when exit is set
	exit   Exit

	stopOnce, killOnce sync.Once
	stuck              *time.Timer // set under killOnce, runs after Kill
}

// Started returns the supervisor's process id and its start time, by which
// Alive and KillOrphan recognize it after a crash of the engine.
func (p *Process) Started() (pid int, start uint64) {
	return p.cmd.Process.Pid, p.start
}

// Output delivers how much has been printed, at most five times a second and
// only when there is more. A slow reader sees only the latest. It is closed
// when the process is over.
func (p *Process) Output() <-chan Progress { return p.output }

// Terminal returns the terminal that the process is on, or nil if it was
// started without Spec.Terminal.
func (p *Process) Terminal() *Terminal { return p.terminal }

// Write writes to the stdin of a process that was started with Spec.Pipe. It
// blocks while the process does not read, and fails when it is gone.
func (p *Process) Write(b []byte) error {
	if p.near.stdin == nil {
		return ErrNoStdin
	}
	if _, err := p.near.stdin.Write(b); err != nil {
		return fmt.Errorf("write to a process: %w", err)
	}
	return nil
}

// CloseStdin ends the stdin of a process that was started with Spec.Pipe.
func (p *Process) CloseStdin() error {
	if p.near.stdin == nil {
		return ErrNoStdin
	}
	if err := p.near.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close stdin of a process: %w", err)
	}
	return nil
}

// Stop sends SIGTERM to the agent's group and, after the grace, kills all. On
// a terminal it sends SIGHUP too, because an interactive shell ignores SIGTERM.
func (p *Process) Stop() {
	p.stopOnce.Do(func() {
		// A pipe that is closed or broken means that the end is near anyway.
		_, _ = p.near.control.Write(encodeStop())
	})
}

// Kill kills everything at once: the end of the control pipe says so.
func (p *Process) Kill() {
	p.killOnce.Do(func() {
		p.stuck = time.AfterFunc(p.patience, func() {
			// With this its PID namespace dies, or follow finds the rest.
			_ = p.cmd.Process.Kill()
		})
		_ = p.near.control.Close()
	})
}

// Wait returns when the process and everything below it are gone.
func (p *Process) Wait() Exit {
	<-p.done
	return p.exit
}

// follow reads the reports to their end and settles the process.
func (p *Process) follow() {
	defer close(p.done)
	defer close(p.output)
	exit, words := p.read()
	// The status is of no interest, but for a supervisor without a report.
	waitErr := p.cmd.Wait()
	p.Kill() // From here on it does nothing, and stuck is set.
	p.stuck.Stop()
	if exit != nil {
		p.exit = *exit
	} else {
		p.exit = p.lost(words, waitErr)
	}
	if p.terminal != nil {
		p.terminal.end(&p.exit)
	}
	_ = p.near.close()
	_ = shutDoor(p.door) // a door that is still there has no listener
}

// read passes the counts on and returns the exit report. Without a report it
// returns the first line that the supervisor printed when it died.
func (p *Process) read() (exit *Exit, words string) {
	for r := bufio.NewReader(p.near.report); ; {
		line, err := r.ReadSlice('\n')
		switch rep, ok := parseReport(line); {
		case !ok && words == "":
			words = strings.TrimSpace(string(line))
		case rep.Exit != nil:
			exit = rep.Exit
		case rep.Output != nil:
			p.publish(*rep.Output)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return exit, words
		}
	}
}

// publish replaces a count that the reader has not seen yet. There is a single
// sender, so there is room after the first select.
func (p *Process) publish(g Progress) {
	select {
	case <-p.output:
	default:
	}
	p.output <- g
}

// lost kills the processes that a dead supervisor left. A PID namespace is
// empty by now; elsewhere its processes are found by their tag.
func (p *Process) lost(words string, waitErr error) Exit {
	text := "its supervisor ended without a report"
	if waitErr != nil {
		text += " (" + waitErr.Error() + ")"
	}
	if words != "" {
		text += ": " + words
	}
	mine := p.tag
	family := &lineage{marked: func(tag uint64) bool { return ofSupervisor(tag, mine) }}
	killed, escaped, err := family.hunt(nil)
	if err != nil {
		text += "; " + err.Error()
	}
	return Exit{
		Reason: Lost, Text: text, Code: -1, Left: len(killed), Escaped: escaped,
	}
}

// Package pager shows long output in the pager that the user has chosen for
// git.
//
// It owns the choice of the program and its life. Which output is long enough,
// and whether anybody looks at it, is for its callers to decide.
package pager

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"agentswarm/swarm/proc"
)

// Choice is the user's choice of a pager.
type Choice struct {
	Getenv func(string) string // required
	// Core is core.pager of git's configuration; empty for none.
	Core string
}

// Command is the command line of the pager, for a shell; empty for none. The
// order is git's: GIT_PAGER, core.pager, PAGER, less.
func (c Choice) Command() string {
	command := "less"
	for _, given := range []string{c.Getenv("GIT_PAGER"), c.Core, c.Getenv("PAGER")} {
		if given = strings.TrimSpace(given); given != "" {
			command = given
			break
		}
	}
	if command == "cat" {
		return ""
	}
	return command
}

// Request is a pager that is to be started.
type Request struct {
	Command string   // required: for sh -c
	Environ []string // the user's own environment
	Dir     string   // required: a folder that is there
	Stdin   io.Reader
	Stdout  io.Writer // required: the terminal
	Stderr  io.Writer // required
	// Signals are passed on to the pager; nil for none.
	Signals <-chan os.Signal
}

// ErrQuit is the error of a write to a pager whose user has seen enough.
var ErrQuit = errors.New("the pager has ended")

// Pager is a pager at work. Its methods may be called by several goroutines.
type Pager struct {
	terminal io.Writer
	in       *os.File
	done     chan struct{}
	err      error // of the program; valid once done is closed
	once     sync.Once
}

// Start starts a pager. The caller must close it.
func Start(r Request) (*Pager, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the pager: %w", err)
	}
	p := &Pager{terminal: r.Stdout, in: in, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		code, err := proc.Foreground(proc.ForegroundRequest{
			Argv: []string{"sh", "-c", r.Command}, Env: environ(r.Environ), Dir: r.Dir,
			Stdin: out, Stdout: r.Stdout, Stderr: r.Stderr, Signals: r.Signals,
		})
		// Without a reader, further writes fail.
		err = errors.Join(err, out.Close())
		if err == nil && (code == 126 || code == 127) {
			err = fmt.Errorf("the pager %q cannot be run; --no-pager does without it", r.Command)
		}
		p.err = err
	}()
	return p, nil
}

// environ sets, as git does, how pagers behave that know these variables: less
// ends at once where all fits on the screen, and shows colours.
func environ(given []string) []string {
	env := slices.Clone(given)
	for _, kv := range []string{"LESS=FRX", "LV=-c"} {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(given, func(g string) bool { return strings.HasPrefix(g, name+"=") }) {
			env = append(env, kv)
		}
	}
	return env
}

// Write hands text to the pager. After the user has left it the error is
// [ErrQuit].
func (p *Pager) Write(text []byte) (int, error) {
	n, err := p.in.Write(text)
	if errors.Is(err, syscall.EPIPE) {
		err = ErrQuit
	}
	return n, err
}

// Fd is the terminal that the pager shows on, so that its width and its colours
// hold for the text.
func (p *Pager) Fd() uintptr {
	if f, ok := p.terminal.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Close ends the text and waits until the user has left the pager. The error is
// that of a pager that could not be run.
func (p *Pager) Close() error {
	p.once.Do(func() { _ = p.in.Close() }) // its reader may be gone already
	<-p.done
	return p.err
}

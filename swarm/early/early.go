// Package early is the body of processes that swarm or agents start by the
// hundred: supervisors, keepers, guards and build caches. They are the same
// binary. Each would wait for the initialisation of all its packages, of which
// they need hardly any, and hold the memory that it touches.
//
// So this package, unlike all others, does its work while it is initialised. Go
// initialises packages in the order of their import paths as soon as all their
// imports are initialised, and this package imports little. It must stay so. A
// test of the whole program bounds the initialisation before it.
package early

import (
	"encoding/json"
	"fmt"
	"os"

	"agentswarm/swarm/box"
	"agentswarm/swarm/gocache"
	"agentswarm/swarm/guard"
	"agentswarm/swarm/proc"
)

const (
	// Supervise is the only argument of a process that supervises.
	Supervise = "__supervise"
	// Keep is the only argument of a process that ends git and its filters if
	// its parent is killed.
	Keep = "__keep"
	// Become is the first argument of a process that waits until its identity
	// is recorded and then becomes the command in the arguments after it.
	Become = "__become"
)

func init() {
	if code, ok := run(os.Args); ok {
		os.Exit(code)
	}
}

// run is the body of such a process; ok is false if args, of which the first is
// the program, do not name such a process.
func run(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	if name, ok := guard.Called(args[0]); ok {
		return guard.Run(guard.Request{Name: name, Argv: args, Environ: os.Environ(), Stderr: os.Stderr}), true
	}
	switch {
	case len(args) > 2 && args[1] == Become:
		return proc.BecomeCommand(args[2:]), true
	case len(args) > 2 && args[1] == gocache.Command:
		return gocache.Run(args[2:], os.Getenv("GOCACHE")), true
	case len(args) != 2:
		return 0, false
	}
	switch args[1] {
	case Supervise:
		return proc.Supervise(enter), true
	case Keep:
		return proc.Keep(), true
	default:
		return 0, false
	}
}

// enter enters the sandbox from inside.
func enter(sandbox json.RawMessage) error {
	var w box.Sandbox
	if err := json.Unmarshal(sandbox, &w); err != nil {
		return fmt.Errorf("read the sandbox: %w", err)
	}
	return box.Enter(w)
}

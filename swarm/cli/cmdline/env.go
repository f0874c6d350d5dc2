package cmdline

import (
	"context"
	"io"

	"agentswarm/swarm/agent/kinds"
	"agentswarm/swarm/limit"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
)

// Program is the name of the program in usage lines and messages.
const Program = "swarm"

// Env is everything a command line may know about the outside.
type Env struct {
	Args           []string  // the words after the program's name
	Stdin          io.Reader // required
	Stdout, Stderr io.Writer // required
	Getenv         func(string) string
	Environ        []string // for children
	Path           string   // as it was given; Environ's is without guards
	Dir            string   // required: the current folder, absolute
	Self           string   // the running binary, for supervisors
	Calls          string   // how the user calls us, for commands to type

	// Step, where set, is called between the steps of writes to the disk: each
	// record of a journal, each part of making, capturing and removing a
	// workspace. Tests end the process or its children there.
	Step func(name string) error
	// Main runs a command line in this process and returns its exit code; cli.Main sets it.
	Main func(ctx context.Context, env Env) int
	// Began, where set, is told of each run that a command begins.
	Began func(*store.Run)
	// Kinds, where set, are the kinds of agents there are, in place of those of
	// this version.
	Kinds kinds.List
	// Unhurried has a shell wait for all its candidates, however long they
	// take: tests of the candidates run on machines with other work.
	Unhurried bool
	// Machine, where set, returns the room for new programs, in place of this
	// machine's: tests of several agents at once run on machines with other
	// work.
	Machine func() limit.Machine
	// Dispatched is set where the script of a run was handed in by a model of
	// another harness.
	Dispatched bool

	Keeper *proc.Keeper    // for each command line its own; started when needed
	Quiet  bool            // no progress is shown
	Over   <-chan struct{} // closed when the command is to end; nil: never
}

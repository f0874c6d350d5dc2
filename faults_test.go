package main

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"agentswarm/swarm/cli"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/limit"
)

// faultVar asks the `swarm` of the tests for a fault between two steps.
//
//	kill:17:FILE     at the 17th step the process makes the file and kills itself
//	kill:before closed:FILE   the same before the first record of a kind, or after
//	kill:before closed*3:FILE  the same before the third of them
//	kill:swapped:FILE  the same at the first step of this name
//	hold:before closed:FILE   the process makes the file and comes no further, for as long as never
//	await:entered:FILE  steps of this name end once there is the file
//	prune:all:REPO   at each step the user tidies the repository up
//	full:entered:FILE  at steps of this name the disk is full
const faultVar = "SWARMTEST_FAULT"

// faultySwarm is main, with a fault if the environment asks for it. Memory left
// on the machine decides nothing. Other tests use memory at the same time, and
// agents that wait for each other must work at once. A slow completion offers
// as much as a fast completion; in a shell it would offer less.
func faultySwarm() {
	fault, fakes, word := os.Getenv(faultVar), fakeKinds(), ""
	if len(os.Args) > 1 {
		word = os.Args[1]
	}
	if word == "__supervise" {
		main()
	}
	ctx, unknown := context.Background(), boundedMachine
	if fault != "" {
		words := strings.SplitN(fault, ":", 3)
		f := &faulty{verb: words[0], at: words[1], file: words[2]}
		os.Exit(cli.RunIn(ctx, func(env *cmdline.Env) { env.Step, env.Machine = f.step, unknown }, os.Args))
	}
	if fakes == nil { // as main has it
		if code, ok := cli.Supervise(ctx, os.Args[1:]); ok {
			os.Exit(code)
		}
	}
	os.Exit(cli.RunIn(ctx, func(env *cmdline.Env) {
		env.Kinds, env.Unhurried, env.Machine = fakes, true, unknown
	}, os.Args, demos))
}

// processesVar is the number of processes and threads that the `swarm` of the
// tests takes for free; empty: it knows no limit.
const processesVar = "SWARMTEST_PROCESSES"

// boundedMachine is a machine without limits but that of processesVar.
func boundedMachine() (m limit.Machine) {
	if n, err := strconv.Atoi(os.Getenv(processesVar)); err == nil {
		m.Processes = limit.Room{Free: int64(n), Limit: 200, By: "the container (cgroup)"}
	}
	return m
}

type faulty struct {
	verb, at, file string

	steps atomic.Int64
	seen  atomic.Int64 // steps of the name that is asked for
	mu    sync.Mutex   // held while the user tidies up
}

func (f *faulty) step(name string) error {
	switch {
	case f.verb == "prune":
		return f.prune()
	case f.verb == "full":
		if name == f.at {
			return &os.PathError{Op: "write", Path: f.file, Err: syscall.ENOSPC}
		}
		return nil
	case f.verb == "await":
		if name == f.at {
			return fakeStep("await:" + f.file)
		}
		return nil
	}
	if strconv.FormatInt(f.steps.Add(1), 10) != f.at && !f.recorded(name) {
		return nil
	}
	err := os.WriteFile(f.file, []byte(name+"\n"), 0o600)
	if f.verb == "hold" {
		time.Sleep(never) // unless a signal ends it
		return err
	}
	if err == nil {
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err == nil {
		select {} // the step does not end
	}
	return err
}

// recorded reports whether a step is the requested step of a record: "before 17
// closed" is "before closed". Of "before closed*3" it is the third.
func (f *faulty) recorded(step string) bool {
	words := strings.Fields(step)
	at, nth, counted := strings.Cut(f.at, "*")
	if step != at && (len(words) != 3 || words[0]+" "+words[2] != at) {
		return false
	}
	return !counted || strconv.FormatInt(f.seen.Add(1), 10) == nth
}

// prune runs git's clean-up commands, which a user may run at any moment.
func (f *faulty) prune() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, args := range [][]string{
		{"reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"},
		{"repack", "-q", "-a", "-d"},
		{"-c", "gc.auto=0", "gc", "-q", "--prune=now"},
		{"worktree", "prune", "--expire=now"},
		{"fetch", "-q", "."},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = f.file
		// Git refuses to tidy up while another git adds a worktree, as it
		// would for a user.
		_ = cmd.Run()
	}
	return nil
}

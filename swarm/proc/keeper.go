package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Keeper ends the processes that this process runs without a supervisor, such
// as git and the filters that git runs, if this process is killed. It is a
// child (this binary again, whose body is [Keep]) that leads a process group.
// The kept processes are started as members of that group. When the pipe to the
// keeper ends, because this process did or by Close, the keeper ends the group:
// SIGTERM, two seconds, SIGKILL, and itself with it.
//
// The keeper misses no member: between fork and exec a member still holds the
// pipe, so the end comes only once it is in the group. It cannot hit a strange
// process either, since the group's number is the keeper's own. Only a process
// that leaves the group by itself, as a daemon does, is not kept.
//
// Its methods may be called by many goroutines at once.
type Keeper struct {
	Binary string   // required: the program whose main calls Keep for Args
	Args   []string // required

	mu   sync.Mutex // guards kept, and that it is started once
	kept *kept      // nil before the first Group
}

// kept is a keeper process.
type kept struct {
	pid  int
	life *os.File      // its end is the order to kill
	gone chan struct{} // closed when it is dead and was waited for
}

// Group returns the process group for members to join. It starts the keeper on
// the first call, and again if somebody killed the keeper. It returns a
// [*StartError] if the keeper cannot be started.
func (k *Keeper) Group() (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept != nil {
		select {
		case <-k.kept.gone:
			_ = k.kept.life.Close() // no reader is configured any more
		default:
			return k.kept.pid, nil
		}
	}
	var err error
	if k.kept, err = k.start(); err != nil {
		return 0, &StartError{Temporary: passes(err), Err: err}
	}
	return k.kept.pid, nil
}

// Started is the keeper's process id and its start time, by which [Alive]
// knows it; 0 where none was started.
func (k *Keeper) Started() (pid int, start uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return 0, 0
	}
	row, _ := look(k.kept.pid)
	return k.kept.pid, row.start
}

func (k *Keeper) start() (*kept, error) {
	far, near, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open a pipe: %w", err)
	}
	cmd := &exec.Cmd{
		Path: k.Binary, Args: append([]string{k.Binary}, k.Args...),
		Dir: "/", Env: []string{"GOMAXPROCS=1", "GOGC=25"}, Stdin: far,
		// Not a session of its own: no process of ours could join its group.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := errors.Join(cmd.Start(), far.Close()); err != nil {
		_ = near.Close() // the first error is the one to report
		return nil, err
	}
	p := &kept{pid: cmd.Process.Pid, life: near, gone: make(chan struct{})}
	go func() { // Close waits for it.
		defer close(p.gone)
		_ = cmd.Wait() // it never ends well
	}()
	return p, nil
}

// Stop sends SIGTERM to a member, which the caller has not waited for, and to
// all its descendants.
//
// It first halts all of them, so that none starts another process between the
// look and the signal. Such a process would go on in files that the others had
// tidied up.
func (k *Keeper) Stop(pid int) error {
	below := &lineage{below: pid}
	held := map[who]process{}
	hold := func(p process) {
		if _, is := held[p.who()]; !is && send(p, syscall.SIGSTOP) == nil { // a process that is gone needs no halt
			held[p.who()] = p
		}
	}
	if p, ok := look(pid); ok {
		hold(p)
	}
	var err error
	for seen := -1; seen < len(held) && err == nil; {
		seen = len(held)
		var found map[who]process
		found, err = below.members()
		for _, p := range found {
			hold(p)
		}
	}
	for _, p := range held {
		_ = send(p, syscall.SIGTERM)
	}
	for _, p := range held {
		_ = send(p, syscall.SIGCONT)
	}
	return err
}

// Close ends the remaining members of the group and returns when the keeper is
// gone.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		return nil
	}
	err := k.kept.life.Close()
	<-k.kept.gone
	k.kept = nil
	return err
}

// Keep is the body of a keeper. It does not return, unless it was started by
// somebody else than [Keeper]; then it returns an exit code.
func Keep() int { return keep(DefaultGrace) }

// keep is Keep with the time that members may take to end after SIGTERM.
func keep(grace time.Duration) int {
	var in syscall.Stat_t
	err := syscall.Fstat(int(os.Stdin.Fd()), &in)
	if err != nil || in.Mode&syscall.S_IFMT != syscall.S_IFIFO || syscall.Getpgrp() != os.Getpid() {
		fmt.Fprintln(os.Stderr, "keep: this command is not for people: swarm itself starts it")
		return 2
	}
	// It has no children that could inherit this, and must outlast a signal
	// that is meant for swarm.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	_, _ = io.Copy(io.Discard, os.Stdin) // an error is an end, too
	// After SIGTERM a git removes its lock files and half-made files. A killed
	// git leaves them in the user's repository.
	_ = syscall.Kill(0, syscall.SIGTERM)
	for end := time.Now().Add(grace); othersInGroup() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // they are no children of ours
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
	return 1
}

// othersInGroup reports whether somebody else lives in this process's group.
// Where that cannot be told there is.
func othersInGroup() bool {
	table, err := processes()
	return err != nil || slices.ContainsFunc(table, func(p process) bool {
		return p.group == syscall.Getpgrp() && p.pid != os.Getpid() && !p.dead
	})
}

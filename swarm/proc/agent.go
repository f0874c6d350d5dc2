package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// again is the time between two hunts: killed processes need it to be gone.
const again = 20 * time.Millisecond

// agent is a started program with the parts that supervise it.
type agent struct {
	pid    int // of the process, its group and its session
	out    *output
	reaper *reaper
	family *family
}

// start opens the agent's files, enters the sandbox and starts the agent. The
// files are opened outside, so that no sandbox is in their way.
func (s *supervisor) start(enter func(json.RawMessage) error) (_ *agent, err error) {
	stdin, err := s.stdin()
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	out := newOutput(s.spec.OutputLimit)
	defer func() {
		if err != nil {
			err = errors.Join(err, out.close())
		}
	}()
	ends := []*os.File{stdin, stdin, stdin}
	if s.spec.Terminal == nil {
		var writes [2]*os.File
		writes, err = out.open(&s.spec)
		for _, f := range writes {
			if f != nil {
				// The agent must hold the only ends, or the drains never end.
				defer f.Close()
			}
		}
		ends = append(ends[:1], writes[:]...)
	}
	if err != nil {
		return nil, err
	}
	if err := enter(s.spec.Sandbox); err != nil {
		return nil, fmt.Errorf("enter the sandbox: %w", err)
	}
	// The mode belongs to the pipe and not to the descriptor, and a program
	// does not expect EAGAIN on its stdin.
	for _, f := range ends {
		if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", f.Name(), err)
		}
	}
	pid, err := launch(program{
		argv: s.spec.Argv, env: s.spec.Env, dir: s.spec.Dir,
		terminal: s.spec.Terminal != nil, files: ends,
	})
	if err != nil {
		return nil, err
	}
	out.drain()
	r := newReaper(pid)
	return &agent{pid: pid, out: out, reaper: r, family: newFamily(r)}, nil
}

// stdin opens the agent's standard input.
func (s *supervisor) stdin() (*os.File, error) {
	if s.spec.Pipe || s.spec.Terminal != nil {
		return os.NewFile(stdinFD, "stdin"), nil
	}
	path := s.spec.Stdin
	if path == "" {
		path = os.DevNull
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open stdin: %w", err)
	}
	return f, nil
}

// program is started inside the sandbox: the agent, or a visitor.
type program struct {
	argv, env []string
	adopt     []string // of a visitor: see VisitRequest
	dir       string
	terminal  bool       // the first of the files is its controlling terminal
	files     []*os.File // stdin, stdout, stderr
}

// launch starts a program in a session of its own. The program itself gets the
// controlling terminal, if there is any. If the supervisor had it, the program
// would be in its background and be stopped for reading.
func launch(p program) (pid int, err error) {
	if info, err := os.Stat(p.dir); err != nil {
		return 0, fmt.Errorf("enter the working directory: %w", err)
	} else if !info.IsDir() {
		return 0, fmt.Errorf("enter the working directory: %s is not a folder", p.dir)
	}
	path, err := find(p.argv[0], p.dir, p.env)
	if err != nil {
		return 0, err
	}
	attr := &syscall.ProcAttr{
		Dir: p.dir, Env: p.env, Sys: &syscall.SysProcAttr{
			Setsid: true, Setctty: p.terminal, Ctty: 0,
		},
	}
	for _, f := range p.files {
		attr.Files = append(attr.Files, f.Fd())
	}
	pid, err = syscall.ForkExec(path, p.argv, attr)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return 0, fmt.Errorf("start %s: %w (the file is there; what its first "+
			"line names, or its loader, is not)", path, err)
	case errors.Is(err, syscall.ENOEXEC):
		return 0, fmt.Errorf("start %s: %w (a script needs a first line such as "+
			"#!/bin/sh)", path, err)
	case err != nil:
		return 0, fmt.Errorf("start %s: %w", path, err)
	}
	return pid, nil
}

// finish kills the agent's remaining processes until they are gone, except
// those of another user, which only that user can end. Without a namespace a
// single round may miss a process that forks meanwhile.
func (a *agent) finish() {
	if a.family.complete() {
		return
	}
	for a.family.kill(); a.family.escaped == 0; a.family.kill() {
		select {
		case <-a.reaper.empty:
			return
		case <-time.After(again):
		}
	}
}

// settle writes down how it ended.
func (a *agent) settle(status syscall.WaitStatus) Exit {
	exit := Exit{
		Reason: Exited, Code: status.ExitStatus(),
		Left: a.family.left(), Escaped: a.family.escaped,
	}
	exit.CPU, exit.MaxRSS = a.reaper.used()
	if status.Signaled() {
		exit.Code = 128 + int(status.Signal())
		exit.Signal = signalName(status.Signal())
	}
	a.out.settle(&exit, a.family.err)
	return exit
}

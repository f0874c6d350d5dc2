// Package guard stands before programs in the PATH of agents where no sandbox
// confines the programs to the agent's own files.
//
// A guard is a link with the name of a program to the kept binary of swarm.
// Like a hook, it asks whether the command line is allowed, and becomes the
// program if it is. It judges nothing, and is no sandbox. A call of a program
// by its path goes around it, and so does a program without a guard.
//
// A configure script may run hundreds of them, so it does without most of the
// binary (see package early).
package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/swarm/ask"
)

// Folder is the folder beside the kept binary that holds folders of guards.
const Folder = "guards"

// Exit codes of a guard, as shells have them for programs that cannot be run.
const (
	Denied  = 126
	Missing = 127
)

// binary is the name of the binary that guards are links to.
const binary = "swarm"

// Called reports whether this process was started by a guard, and for which
// program: it is the kept binary by another name.
func Called(argv0 string) (name string, ok bool) {
	name = filepath.Base(argv0)
	if argv0 == "" || name == binary {
		return "", false
	}
	self, err := itself()
	if err != nil || filepath.Base(self) != binary {
		return "", false
	}
	info, err := os.Lstat(filepath.Join(filepath.Dir(self), Folder))
	return name, err == nil && info.IsDir()
}

// Without returns a PATH less the folders of guards in it. The guards of an
// agent's own commands have no socket to ask when swarm itself runs a program
// for the agent.
func Without(path string) string {
	kept := slices.DeleteFunc(strings.Split(path, ":"), func(dir string) bool {
		above := filepath.Dir(filepath.Clean(dir))
		if filepath.Base(above) != Folder {
			return false
		}
		info, err := os.Lstat(filepath.Join(filepath.Dir(above), binary))
		return err == nil && info.Mode().IsRegular()
	})
	return strings.Join(kept, ":")
}

// itself is the path of the running binary, whatever link led to it.
func itself() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}

// Request is a call of a program that has a guard.
type Request struct {
	Name    string   // required: of the program
	Argv    []string // required: as the program is to have it
	Environ []string // required
	Stderr  io.Writer
}

// Run asks whether the program may run, and hands the process over to it: it
// returns only where it may not, or cannot. The code is that of the process.
func Run(r Request) int {
	say := func(code int, text string) int {
		fmt.Fprintf(r.Stderr, "swarm: %s: %s\n", r.Name, strings.Join(strings.Fields(text), " "))
		return code
	}
	if reason := r.refusal(); reason != "" {
		return say(Denied, reason)
	}
	path, err := r.next()
	if err != nil {
		return say(Missing, err.Error())
	}
	argv := slices.Clone(r.Argv)
	if strings.Contains(argv[0], "/") {
		argv[0] = path // some find their own files by it
	}
	err = syscall.Exec(path, argv, r.Environ)
	if errors.Is(err, syscall.ENOEXEC) { // a script without a first line, which shells run
		err = syscall.Exec("/bin/sh", append([]string{"sh", path}, argv[1:]...), r.Environ)
	}
	return say(Denied, fmt.Sprintf("run %s: %v", path, err))
}

// refusal asks, and says why it may not be; empty: it may.
func (r *Request) refusal() string {
	socket := r.env(ask.Variable)
	if socket == "" {
		return "no person can be asked whether it may run: " + ask.Variable + " names no socket"
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "no person can be asked whether it may run: " + err.Error()
	}
	answer, err := ask.Once(socket, ask.Action{Command: r.line(), Cwd: cwd})
	switch {
	case err != nil:
		return "no person can be asked whether it may run: " + err.Error()
	case answer.Allow:
		return ""
	case answer.Reason == "":
		return "it was refused"
	case answer.Instead == "":
		return answer.Reason
	}
	return answer.Reason + ". Instead: " + answer.Instead
}

var errMissing = errors.New("there is no such program in PATH")

// next returns the program that PATH names after the guard, which may be
// another guard. A search from the front could find that guard again and again.
func (r *Request) next() (string, error) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		path, err := itself()
		if err != nil {
			return "", err
		}
		if self, err = os.Stat(path); err != nil {
			return "", err
		}
	}
	found := ""
	for _, dir := range filepath.SplitList(r.env("PATH")) {
		file := filepath.Join(dir, r.Name)
		info, err := os.Stat(file)
		switch {
		case err != nil || !info.Mode().IsRegular() || unix.Access(file, unix.X_OK) != nil:
		case os.SameFile(info, self):
			found = ""
		case found == "":
			found = file
		}
	}
	if found == "" {
		return "", errMissing
	}
	return filepath.Abs(found)
}

// env returns the value of a variable, the last value as for exec.
func (r *Request) env(name string) string {
	for _, kv := range slices.Backward(r.Environ) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

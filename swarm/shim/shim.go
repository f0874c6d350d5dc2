// Package shim stands before git in the PATH of agents.
//
// It owns the commands that agents may not run in workspaces that share refs
// with the user's repository, with an alternative for each. It also owns the
// renaming of a folder of a read-only layer. A script, [Script], comes first:
// it costs a millisecond, and passes on only command lines with a word of
// interest. [Run] then checks the real meaning.
//
// It is not a sandbox: a call of git by its path goes around it, and aliases
// are not resolved. swarm/box and worktree bound the damage that an agent can
// do.
package shim

import (
	_ "embed" // of the script
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Script is the file with the name git. It is the same for all agents. The
// binary of swarm, which it calls as `swarm __git`, lies one folder above its
// own. The backend of the workspace is in SWARM_WORKSPACE.
//
//go:embed git
var Script []byte

// Advice tells agents of the only fault that a shim cannot mend. It stands in
// the protocol of agents, and in the built-in type of agents that change files.
const Advice = "Rename folders with `mv` or `git mv`: a rename(2) of a folder, as in os.rename or fs.rename, " +
	"can fail here with EXDEV (cross-device link)."

// Request is a call of git.
type Request struct {
	Args    []string // required: those of git, without its name
	Environ []string // required
	// Where an answer goes that is not git's own.
	Stdout, Stderr io.Writer // required
}

// Run carries out a call of git in one of three ways. It hands the process over
// to git and does not return, or refuses, or renames folders itself. It returns
// the exit code of the process.
//
// The script has taken itself out of PATH, so git is the first program there
// that is no guard: a guard is this binary.
func Run(r Request) int {
	c := &call{Request: r, line: parse(r.Args)}
	path, err := lookup(c.env("PATH"))
	if err != nil {
		fmt.Fprintln(r.Stderr, "git:", err)
		return 127
	}
	c.git = path
	if code, done := c.own(); done {
		return code
	}
	argv := append([]string{"git"}, r.Args...)
	err = syscall.Exec(c.git, argv, r.Environ)
	fmt.Fprintf(r.Stderr, "git: run %s: %v\n", c.git, err)
	return 126
}

// call is a call of git.
type call struct {
	Request
	line
	git string // its path
}

// own handles the calls that git does not get; done is false if git is to
// answer.
func (c *call) own() (code int, done bool) {
	switch c.env("SWARM_WORKSPACE") {
	case "overlay":
		if c.sub == "mv" {
			return c.rename()
		}
	case "worktree":
		reason := refusal(c.line, c)
		if reason == "" || !c.shares() {
			return 0, false
		}
		fmt.Fprintf(c.Stderr, "git %s: %s\n", c.sub, reason)
		return 1, true
	}
	return 0, false
}

// env returns the value of a variable, the last value as for exec.
func (c *call) env(name string) string {
	for i := len(c.Environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(c.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}

var errNoGit = errors.New("there is no git in PATH")

// lookup finds git as a shell does.
func lookup(path string) (string, error) {
	if path == "" {
		return "", errNoGit
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	guard, err := os.Stat(self)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		file := filepath.Join(dir, "git")
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || unix.Access(file, unix.X_OK) != nil || os.SameFile(info, guard) {
			continue
		}
		if !filepath.IsAbs(file) {
			return filepath.Abs(file)
		}
		return file, nil
	}
	return "", errNoGit
}

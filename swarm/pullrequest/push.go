package pullrequest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentswarm/swarm/proc"
	"agentswarm/worktree/git"
)

// Runner runs a program with the environment of the user, in their repository, and
// returns its standard output. in is its standard input, extra more variables. An
// error is a [*ProgramError].
type Runner func(in string, extra []string, program string, args ...string) (out string, err error)

// Run is a [Runner] for programs in a folder. They are in the process group of this
// process, so Ctrl-C ends them, too.
func Run(dir string, env []string) Runner {
	return func(in string, extra []string, program string, args ...string) (string, error) {
		var out, said bytes.Buffer
		code, err := proc.Foreground(proc.ForegroundRequest{
			Argv: append([]string{program}, args...), Env: slices.Concat(env, extra), Dir: dir,
			Stdin: strings.NewReader(in), Stdout: &out, Stderr: &said,
		})
		if err != nil || code != 0 {
			return out.String(), &ProgramError{Program: program, Args: args, Said: lastLine(said.String()), Code: code, Err: err}
		}
		return out.String(), nil
	}
}

// ProgramError is a program of the user's that failed.
type ProgramError struct {
	Program string
	Args    []string
	Said    string // its last line on standard error; may be empty
	Code    int    // its exit code
	Err     error  // that it did not run; nil where it did
}

func (e *ProgramError) Error() string {
	name := e.Program
	if len(e.Args) > 1 && !strings.HasPrefix(e.Args[1], "-") {
		name += " " + e.Args[0] + " " + e.Args[1]
	} else if len(e.Args) > 0 {
		name += " " + e.Args[0]
	}
	switch {
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", name, e.Err)
	case e.Said != "":
		return name + ": " + e.Said
	}
	return fmt.Sprintf("%s: exit status %d", name, e.Code)
}

func (e *ProgramError) Unwrap() error { return e.Err }

// lastLine is the last line of a text that is not blank.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Push pushes branches to a remote with the user's own git: their hooks, login
// and LFS count. It never forces. The error is a [*TakenError] if the remote
// has other commits under a name, else git's error.
func Push(run Runner, q *git.Quarantine, remote string, branches []*Branch) error {
	args := []string{"push", "--porcelain", "--", remote}
	for _, b := range branches {
		args = append(args, string(b.Commit)+":refs/heads/"+b.Name)
	}
	out, err := run("", []string{"GIT_OBJECT_DIRECTORY=" + q.Dir}, "git", args...)
	if err == nil {
		return nil
	}
	for line := range strings.SplitSeq(out, "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) < 3 || fields[0] != "!" {
			continue
		}
		_, to, _ := strings.Cut(fields[1], ":refs/heads/")
		if strings.Contains(fields[2], "fetch first") || strings.Contains(fields[2], "non-fast-forward") {
			return &TakenError{Branch: to, Remote: remote}
		}
		return fmt.Errorf("push %s to %s: %s", to, remote, fields[2])
	}
	return fmt.Errorf("push to %s: %w", remote, err)
}

// ErrNoForge says that no program of a forge is installed.
var ErrNoForge = errors.New("neither gh nor glab is installed")

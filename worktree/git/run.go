package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// waitDelay is how long a git that was told to end may take. It covers a
// filter process that flushes; git itself ends at once.
const waitDelay = 5 * time.Second

// Git is the binary and the environment it is run with.
type Git struct {
	binary string
	env    []string
	keeper Keeper // nil: none
	// filterLimit is as [Git.LimitFilters] says.
	filterLimit time.Duration
	// common is the git dir of the repository that was found last, whose
	// configuration names a filter that hangs.
	common atomic.Pointer[string]

	hooksMu  sync.Mutex // guards the fields below
	hooksRun bool       // this git runs hooks of configurations
	hooks    []string   // their names, see findHooks
}

// Keeper answers for every git that is started, and for the filters git runs,
// should this process be killed.
type Keeper interface {
	// Group is the process group that a git is to be started in.
	Group() (int, error)
	// Stop asks a git that runs, and all below it, to end.
	Stop(pid int) error
}

// Keep has k answer for every git from now on. It must not be called while
// another goroutine runs git. Without a keeper, git is in a process group of
// its own, and a filter that hangs outlives a kill of this process.
func (g *Git) Keep(k Keeper) { g.keeper = k }

// New returns a Git that runs the git on PATH. It drops every GIT_ variable of
// environ, except [SkipLFS]: they would change the index, the git dir or the
// configuration. It also drops SWARM_WORKSPACE, by which a shim in PATH
// recognizes an agent's call.
func New(environ []string) *Git {
	env := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return strings.HasPrefix(kv, "GIT_") && !strings.HasPrefix(kv, SkipLFS+"=") || strings.HasPrefix(kv, "LC_") ||
			strings.HasPrefix(kv, "LANGUAGE=") || strings.HasPrefix(kv, "SWARM_WORKSPACE=")
	})
	return &Git{
		binary: "git",
		env: append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
			"GIT_EDITOR=false", "GIT_PAGER=cat", offVariable+"=false"),
	}
}

// SkipLFS is the variable by which git-lfs leaves pointers in the place of files.
const SkipLFS = "GIT_LFS_SKIP_SMUDGE"

// skipsLFS is the value of [SkipLFS] for every call; empty: it is not set.
func (g *Git) skipsLFS() string {
	for _, kv := range g.env {
		if value, ok := strings.CutPrefix(kv, SkipLFS+"="); ok {
			return value
		}
	}
	return ""
}

// fixed are the options of every call: no hooks, no monitors, no housekeeping,
// no signatures, no colour, no custom prefixes, no descent into submodules.
// trustctime is on because a captured file may have had its time set back. Git
// waits for a lock on a ref: a git of a killed swarm may hold it and has two
// seconds to end.
func fixed() []string {
	return []string{
		"-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false",
		"-c", "core.trustctime=true",
		"-c", "core.checkStat=default",
		"-c", "core.splitIndex=false",
		"-c", "core.filesRefLockTimeout=5000",
		"-c", "core.packedRefsTimeout=5000",
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
		"-c", "commit.gpgSign=false",
		"-c", "tag.gpgSign=false",
		"-c", "color.ui=false",
		"-c", "diff.noprefix=false",
		"-c", "diff.mnemonicPrefix=false",
		"-c", "diff.external=",
		"-c", "submodule.recurse=false",
		"-c", "advice.detachedHead=false",
	}
}

// Cmd is a call of git.
type Cmd struct {
	Args []string // required

	Dir    string    // working directory
	Env    []string  // added to the environment, later entries win
	Config []string  // "key=value", given as -c, after the fixed ones
	Stdin  io.Reader // nil is /dev/null
	Stdout io.Writer // nil collects the output as Run's result

	// Writes is set for a call that may take optional locks. Probes leave it
	// unset and never touch the user's index.
	Writes bool

	// Lasting is set for a call that takes milliseconds and leaves a lock behind
	// if it is killed. It runs to its end, whatever becomes of this process or
	// of the context: the keeper does not stop it.
	Lasting bool
	// Hold is a file that the child keeps open, so that a lock on it lasts as
	// long as the child. Nil: none.
	Hold *os.File
}

// Error is a git that ended with another code than 0.
type Error struct {
	Args   []string // without the options given to every call
	Code   int      // -1 when a signal ended it
	Stderr string   // head and tail of its stderr, under LC_ALL=C

	ownIndex bool // it used another index than that of the checkout
}

func (e *Error) Error() string {
	verb := "git"
	if len(e.Args) > 0 {
		verb = "git " + e.Args[0]
	}
	if e.Stderr == "" {
		return fmt.Sprintf("%s: exit status %d", verb, e.Code)
	}
	if broken := brokenObject(e.Stderr); broken != "" {
		return verb + ": " + broken
	}
	if broken := brokenIndex(e.Stderr); broken != "" && !e.ownIndex {
		return verb + ": " + broken
	}
	return fmt.Sprintf("%s: %s", verb, oneLine(e.Stderr))
}

// oneLine joins the lines that say something.
func oneLine(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Run runs git and returns its stdout. It returns an [*Error] if git exits with
// another code than 0.
func (g *Git) Run(ctx context.Context, c Cmd) ([]byte, error) {
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	if c.Lasting {
		ctx = context.WithoutCancel(ctx)
	}
	var said ends
	outer := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd, err := g.command(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	cmd.Stderr = &said
	if err = cmd.Start(); err == nil {
		stop := g.WatchFilters(ctx, cancel, cmd.Process.Pid)
		err = cmd.Wait()
		stop()
		if g.keeper == nil && ctx.Err() != nil {
			kill(cmd.Process.Pid)
		}
	}
	if ctx.Err() != nil && err != nil {
		cause := context.Cause(ctx)
		g.blame(outer, cause)
		return nil, fmt.Errorf("git %s: %w", c.Args[0], cause)
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return out.Bytes(), &Error{
			Args: c.Args, Code: exit.ExitCode(), Stderr: said.String(),
			ownIndex: slices.ContainsFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_INDEX_FILE=") }),
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("run git %s: %w", c.Args[0], err)
	}
	return out.Bytes(), nil
}

// arguments are those of a call, after the options given to every call.
func (g *Git) arguments(c Cmd) []string {
	args := slices.Concat(fixed(), g.hooksOff())
	for _, kv := range c.Config {
		args = append(args, "-c", kv)
	}
	if !c.Writes {
		args = append(args, "--no-optional-locks")
	}
	return append(args, c.Args...)
}

// command builds the child. Its process group is not ours, so that a Ctrl-C at
// the terminal cannot stop git half-way through a write.
func (g *Git) command(ctx context.Context, c Cmd) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, g.binary, g.arguments(c)...)
	cmd.Dir = c.Dir
	cmd.Env = append(slices.Clone(g.env), c.Env...)
	cmd.Stdin = c.Stdin
	cmd.Stdout = c.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	cmd.WaitDelay = waitDelay
	if c.Hold != nil {
		cmd.ExtraFiles = []*os.File{c.Hold}
	}
	if g.keeper == nil || c.Lasting {
		return cmd, nil
	}
	group, err := g.keeper.Group()
	if err != nil {
		return nil, fmt.Errorf("who ends it should we be killed: %w", err)
	}
	cmd.SysProcAttr.Pgid = group
	cmd.Cancel = func() error { return g.keeper.Stop(cmd.Process.Pid) }
	return cmd, nil
}

// ends keeps the first and the last part of the written bytes. Git reports the
// cause at either end, and a filter may write megabytes in between.
type ends struct {
	head, tail []byte
	dropped    bool
}

const endSize = 4 << 10

func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	if room := endSize - len(e.head); room > 0 {
		take := min(room, len(p))
		e.head = append(e.head, p[:take]...)
		p = p[take:]
	}
	e.tail = append(e.tail, p...)
	if over := len(e.tail) - endSize; over > 0 {
		e.tail = append(e.tail[:0], e.tail[over:]...)
		e.dropped = true
	}
	return n, nil
}

func (e *ends) String() string {
	gap := ""
	if e.dropped {
		gap = "\n…\n"
	}
	return strings.TrimSpace(string(e.head) + gap + string(e.tail))
}

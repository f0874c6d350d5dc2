package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// setup runs the user's setup in the new workspace, at most one per core.
func (t *attempt) setup(ctx context.Context) *ending {
	text := t.engine.config.Setup
	if text == "" || t.call.SubjectOf != "" {
		return nil
	}
	exit, out, err := t.shell(ctx, SetupStep, text)
	switch {
	case err != nil:
		return t.notStarted(ctx, err)
	case ctx.Err() != nil:
		return t.notStarted(ctx, context.Cause(ctx))
	case exit.Reason != proc.Exited || exit.Code != 0:
		return t.notStarted(ctx, fmt.Errorf("setup: %s%s", t.outside(exitText(exit)), lastOf(out, t.outside)))
	}
	return nil
}

// check completes an agent that ended well with the outcome of its check. If
// the check does not come to an end, the agent is not completed: a resume runs
// the check alone.
func (t *attempt) check(ctx context.Context, done *task.Completed) ending {
	verified, err := t.verify(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		h := haltOf(ctx)
		return ending{result: &task.Cancelled{Work: t.work, Cause: h.Cause, Reason: h.Reason}}
	case err != nil:
		return ending{result: &task.Failed{
			Work: t.work, Kind: task.Other, Reason: "its check could not be run: " + err.Error(),
		}}
	}
	done.Work, done.Verified = t.work, &verified
	return ending{result: done}
}

// recheck runs the check that an earlier owner did not run, in a new workspace
// with the captured work.
//
// The name of that workspace tells a recovery that it holds no work.
func (t *attempt) recheck(ctx context.Context) ending {
	done := *t.owed
	t.work, t.start = done.Work, git.Hash(done.Work.Patch.Base)
	t.work.Notes = slices.Clone(t.work.Notes)
	if err := t.prepare(); err != nil {
		return *t.notStarted(ctx, err)
	}
	t.work.OutputFile = done.OutputFile
	if end := t.leaseCheck(ctx); end != nil {
		return *end
	}
	return t.check(ctx, &done)
}

// leaseCheck makes a workspace with the captured work.
func (t *attempt) leaseCheck(ctx context.Context) *ending {
	if end := t.lease(ctx, worktree.LeaseRequest{
		Name: task.AttemptName(t.id, t.n) + checkSuffix,
		Base: git.Hash(t.work.Patch.Commit), Saved: filepath.Join(t.dir, "index"+checkSuffix),
	}); end != nil {
		return end
	}
	return t.setup(ctx)
}

// OnlyChecks reports whether a workspace serves only a check. It holds no work,
// and is removed without a capture.
func OnlyChecks(dir string) bool { return strings.HasSuffix(dir, checkSuffix) }

// checkSuffix ends the name of a workspace that only a check runs in.
const checkSuffix = ".check"

// verify runs the user's check on the attempt's work, at most one per core.
func (t *attempt) verify(ctx context.Context) (bool, error) {
	exit, out, err := t.shell(ctx, CheckStep, t.engine.config.Verify)
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ok := exit.Reason == proc.Exited && exit.Code == 0
	t.work.Check, t.work.CheckCode = out+".out", exit.Code
	note := ""
	if !ok {
		note = t.outside(checkNote(exit, out, t.outside))
		t.work.Notes = append(t.work.Notes, note)
		t.noteHeldOf(t.gotRun.held, true, t.gotRun.files...) // a check fails for many reasons
	}
	return ok, t.journal(&event.Checked{
		Agent: t.id, Attempt: t.n, OK: ok, Code: exit.Code, Output: t.work.Check, Note: note,
	})
}

// checkNote is the note of a check that failed.
func checkNote(x proc.Exit, out string, outside func(string) string) string {
	return "verify: " + exitText(x) + lastOf(out, outside)
}

// shell runs the user's own text by sh -c in the workspace. Nothing is
// substituted in the text; its environment has the values that it may need.
// out+".out" and out+".err" hold its output.
func (t *attempt) shell(ctx context.Context, step Step, text string) (x proc.Exit, out string, err error) {
	e := t.engine
	if err := t.takeCore(ctx, step); err != nil {
		return proc.Exit{}, "", err
	}
	defer e.cores.Release(1)
	around, err := t.sandbox(step)
	if err != nil {
		return proc.Exit{}, "", err
	}
	t.around = around
	place := t.place(around)
	env, err := agent.Environ(e.deps.Environ, agent.Inline(), place)
	if err != nil {
		return proc.Exit{}, "", err
	}
	out = vacant(filepath.Join(t.dir, step.String()))
	t.gotRun = &ranWith{agent.Held(e.deps.Environ, agent.Inline(), place), []string{out + ".out", out + ".err"}}
	x, err = Shell(ctx, ShellRequest{
		Launcher: e.deps.Launcher, Sandbox: around.Sandbox, Door: t.door(), Run: e.deps.Run.ID, Argv: ShellCommand(text), Dir: t.space.Path(),
		Env: env, Out: out, Started: t.started(step.String()),
	})
	if around.Ended != nil {
		around.Ended()
	}
	t.survived = t.survived || err != nil || !x.AllEnded()
	t.noteRepeats(step, around.Written)
	return x, out, err
}

// noteRepeats tells once a run that its setups or checks fill their caches with
// the same files, and names the flag that does it once for all.
func (t *attempt) noteRepeats(step Step, written string) {
	if written == "" {
		return
	}
	found, err := t.engine.repeats.Add(step.String(), written)
	if err != nil || found == nil {
		return // it is a hint: the run continues without
	}
	note := fmt.Sprintf("%d runs of %s each wrote the same %d MiB to ~/%s: --warm CMD fills such caches once for all agents",
		found.Commands, step, found.Bytes>>20, found.Folder)
	t.notes = append(t.notes, note)
	t.engine.deps.Warn(note)
}

// takeCore waits until another setup or check may run. The journal says of a
// check that the attempt waits for it, if it has to.
func (t *attempt) takeCore(ctx context.Context, step Step) error {
	e := t.engine
	if e.cores.TryAcquire(1) {
		return nil
	}
	if step != CheckStep {
		return e.cores.Acquire(ctx, 1)
	}
	err := t.journal(&event.Held{
		Agent: t.id, Attempt: t.n, Step: step.String(),
		Reason: fmt.Sprintf("waiting for a check (%d at once)", e.deps.parallel()),
	})
	if err != nil {
		return err
	}
	return e.cores.Acquire(ctx, 1)
}

// vacant is the first of out, out.2, out.3, … that no earlier try of the
// same step has written to.
func vacant(out string) string {
	for name, n := out, 2; ; n++ {
		_, err := os.Lstat(name + ".out")
		_, eerr := os.Lstat(name + ".err")
		if err != nil && eerr != nil {
			return name
		}
		name = fmt.Sprintf("%s.%d", out, n)
	}
}

// ShellCommand is the command that runs a text of the user's, in which nothing
// is substituted.
func ShellCommand(text string) []string { return []string{"sh", "-c", text} }

// ShellRequest is a command beside the agents.
type ShellRequest struct {
	Launcher *proc.Launcher // required
	Run      string
	Argv     []string // required
	Dir      string   // required
	Env      []string
	Stdin    string // a file; empty: nothing
	// Out is the path of its output: Out+".out" and Out+".err".
	Out     string // required
	Started func(int, uint64) error
	Sandbox json.RawMessage
	Door    string // as that of proc.Spec
	// OutputLimit is that of proc.Spec; 0: the limit of an agent's output.
	OutputLimit int64
	Low         bool // as that of proc.Spec
}

// Shell runs such a command under a supervisor, as agents are. When ctx ends it
// is stopped.
func Shell(ctx context.Context, r ShellRequest) (proc.Exit, error) {
	p, err := r.Launcher.Start(ctx, proc.Spec{
		Run: r.Run, Argv: r.Argv, Env: r.Env, Dir: r.Dir,
		Sandbox: r.Sandbox, Door: r.Door, Stdin: r.Stdin,
		Stdout: r.Out + ".out", Stderr: r.Out + ".err", OutputLimit: r.OutputLimit, Low: r.Low, Started: r.Started,
	})
	if err != nil {
		return proc.Exit{}, err
	}
	done := ctx.Done()
	for {
		select {
		case _, ok := <-p.Output():
			if !ok {
				return p.Wait(), nil
			}
		case <-done:
			done = nil
			p.Stop()
		}
	}
}

func exitText(x proc.Exit) string {
	switch {
	case x.Text != "":
		return x.Text
	case x.Signal != "":
		return "ended by " + x.Signal
	default:
		return fmt.Sprintf("exit status %d", x.Code)
	}
}

// lastOf is ": " and the last line a step wrote, stderr first. For outside see
// [lastLine].
func lastOf(out string, outside func(string) string) string {
	for _, ext := range []string{".err", ".out"} {
		if line := lastLine(out+ext, nil, outside); line != "" {
			return ": " + line
		}
	}
	return ""
}

// lastLine is the last line with something in it of a file's last part, but for
// lines to skip; nil skips none. outside makes paths those outside of the sandbox; nil
// changes none. It comes before a long line is cut, since a cut path is not recognized.
func lastLine(path string, skip func(line string) bool, outside func(string) string) string {
	buf, _, err := statefile.Tail(path, 4<<10)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(buf), "\uFFFD")), "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); skip == nil || line != "" && !skip(line) {
			if outside != nil {
				line = outside(line)
			}
			return tail(line, 300)
		}
	}
	return ""
}

// stray reports whether a line of stderr is a warning of a runtime or a library,
// which does not tell why a program ended.
func stray(line string) bool {
	line = strings.ToLower(line)
	if strings.HasPrefix(line, "(node:") {
		return strings.Contains(line, "warning")
	}
	for _, start := range []string{
		"(use `node --trace", "npm warn", "npm notice", "warning:", "warn:", "[warn]", "debug:", "[debug]", "info:", "[info]",
		"deprecationwarning", "experimentalwarning",
	} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// tail is the end of a text, at most limit bytes, cut at a rune.
func tail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[len(s)-limit:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

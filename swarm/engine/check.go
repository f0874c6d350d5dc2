package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"agentswarm/swarm/agent"
	"agentswarm/swarm/event"
	"agentswarm/swarm/proc"
)

// setup runs the user's setup in the new workspace, at most one a core.
func (t *attempt) setup(ctx context.Context) *ending {
	text := t.engine.config.Setup
	if text == "" {
		return nil
	}
	exit, err := t.shell(ctx, "setup", text)
	switch {
	case err != nil:
		return t.notStarted(ctx, err)
	case ctx.Err() != nil:
		return t.notStarted(ctx, context.Cause(ctx))
	case exit.Reason != proc.Exited || exit.Code != 0:
		return t.notStarted(ctx, fmt.Errorf("setup: %s%s", exitText(exit), t.lastOf("setup")))
	}
	return nil
}

// verify runs the user's check on the attempt's work, at most one a core.
func (t *attempt) verify(ctx context.Context) (bool, error) {
	exit, err := t.shell(ctx, "verify", t.engine.config.Verify)
	if err != nil {
		return false, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	ok := exit.Reason == proc.Exited && exit.Code == 0
	t.work.Check = filepath.Join(t.dir, "verify.out")
	if !ok {
		t.work.Notes = append(t.work.Notes, "verify: "+exitText(exit)+t.lastOf("verify"))
	}
	return ok, t.journal(&event.Checked{
		Agent: t.id, Attempt: t.n, OK: ok, Code: exit.Code, Output: t.work.Check,
	})
}

// shell runs the user's own text by sh -c in the workspace. Nothing is
// substituted in it; what it may need is in its environment.
func (t *attempt) shell(ctx context.Context, step, text string) (proc.Exit, error) {
	e := t.engine
	if err := e.cores.Acquire(ctx, 1); err != nil {
		return proc.Exit{}, err
	}
	defer e.cores.Release(1)
	env, err := agent.Environ(e.deps.Environ, agent.Inline(), t.place())
	if err != nil {
		return proc.Exit{}, err
	}
	return Shell(ctx, ShellRequest{
		Launcher: e.deps.Launcher, Walls: e.deps.Walls, Run: e.deps.Run.ID, Text: text, Dir: t.space.Dir,
		Env: env, Out: filepath.Join(t.dir, step), Started: t.started(step),
	})
}

// ShellRequest is a text of the user's to be run by sh -c.
type ShellRequest struct {
	Launcher *proc.Launcher // required
	Run      string
	Text     string // required
	Dir      string // required
	Env      []string
	// Out is where its output goes: Out+".out" and Out+".err".
	Out     string // required
	Started func(int, uint64) error
	Walls   json.RawMessage
}

// Shell runs such a text under a supervisor, as agents are. When ctx ends it
// is stopped.
func Shell(ctx context.Context, r ShellRequest) (proc.Exit, error) {
	p, err := r.Launcher.Start(ctx, proc.Spec{
		Run: r.Run, Argv: []string{"sh", "-c", r.Text}, Env: r.Env, Dir: r.Dir,
		Walls:  r.Walls,
		Stdout: r.Out + ".out", Stderr: r.Out + ".err",
	})
	if err != nil {
		return proc.Exit{}, err
	}
	if r.Started != nil {
		if err := r.Started(p.Started()); err != nil {
			p.Kill()
			p.Wait()
			return proc.Exit{}, err
		}
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

// lastOf is ": " and the last line a step wrote, stderr first.
func (t *attempt) lastOf(step string) string {
	for _, ext := range []string{".err", ".out"} {
		if line := lastLine(filepath.Join(t.dir, step+ext)); line != "" {
			return ": " + line
		}
	}
	return ""
}

// lastLine is the last line with something in it of a file's last part.
func lastLine(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	end, err := file.Seek(0, 2)
	if err != nil {
		return ""
	}
	buf := make([]byte, min(end, 4<<10))
	if _, err := file.ReadAt(buf, end-int64(len(buf))); err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(buf), "\uFFFD")), "\n")
	return tail(strings.TrimSpace(lines[len(lines)-1]), 300)
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

package enter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"agentswarm/swarm/box"
	"agentswarm/swarm/cli/cmdline"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/environ"
	"agentswarm/swarm/event"
	"agentswarm/swarm/exit"
	"agentswarm/swarm/privatehome"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/task"
)

// through runs the command in the sandbox of a live agent, and returns
// its exit code.
func (v *Visit) through(ctx context.Context, lease *event.Leased, at string) (int, error) {
	request := proc.VisitRequest{
		Door: v.Run.Door(v.Visited.ID, lease.Attempt), Argv: v.Argv, Dir: at,
		// The agent can read the environment of the command.
		Env: v.sharedEnviron(at, lease.Base), Adopt: homeVariables(),
	}
	in, typed := v.Env.Stdin.(*os.File)
	if out, shown := cmdline.Unwrapped(v.Env.Stdout).(*os.File); typed && shown && cmdline.IsTerminal(in.Fd()) && cmdline.IsTerminal(out.Fd()) {
		return v.onScreen(ctx, request, in, out)
	}
	return v.onFiles(ctx, request)
}

// homeVariables name HOME, TMPDIR and the caches, which are the agent's own in
// a sandbox.
func homeVariables() []string {
	return slices.Concat([]string{"TMPDIR", "TMUX_TMPDIR"}, privatehome.Variables(), box.CacheVariables())
}

// sharedEnviron is the environment of a command that runs inside the sandbox of an
// agent: the variables that agents get too, and where the command is.
func (v *Visit) sharedEnviron(dir, base string) []string {
	rules := environ.Rules{Pass: v.passEnv()}
	passed, _ := rules.Select(v.Env.Environ)
	return append(passed, v.whereabouts(dir, base)...)
}

// passEnv are the patterns that were recorded with the run; none where the
// record cannot be read, which the caller of the run has said by then.
func (v *Visit) passEnv() []string {
	recorded, err := session.ReadConfig(v.View)
	if err != nil {
		return nil
	}
	return recorded.Settings.PassEnv
}

// onFiles hands the person's streams over as they are. A stream that is no file
// is copied through a pipe.
func (v *Visit) onFiles(ctx context.Context, r proc.VisitRequest) (code int, err error) {
	signals, giveBack := cmdline.TakeSignals()
	defer giveBack()
	r.Signals = signals
	var copied sync.WaitGroup
	var shown []*os.File
	if f, ok := v.Env.Stdin.(*os.File); ok && !cmdline.IsTerminal(f.Fd()) {
		r.Files[0] = f
	}
	for i, w := range []io.Writer{cmdline.Unwrapped(v.Env.Stdout), cmdline.Unwrapped(v.Env.Stderr)} {
		if f, ok := w.(*os.File); ok && !cmdline.IsTerminal(f.Fd()) {
			r.Files[i+1] = f
			continue
		}
		near, far, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		defer far.Close()
		r.Files[i+1] = far
		shown = append(shown, near)
		copied.Go(func() { proc.Drain(near, w) })
	}
	exit, err := proc.Visit(ctx, r)
	for _, f := range r.Files[1:] {
		if f != cmdline.Unwrapped(v.Env.Stdout) && f != cmdline.Unwrapped(v.Env.Stderr) {
			_ = f.Close() // a process that the command left may hold the other end
		}
	}
	for _, near := range shown {
		_ = near.SetReadDeadline(time.Now().Add(lingering))
	}
	copied.Wait()
	for _, near := range shown {
		_ = near.Close() // a reader has nothing to lose
	}
	return exit.Code, err
}

// lingering is how long a process that a command leaves may go on printing
// after the command's end. Output until then is shown, however long a slow
// terminal takes for it.
const lingering = 200 * time.Millisecond

// onScreen puts the command on a terminal of its own, which the person's shows:
// theirs is not handed to anybody inside.
func (v *Visit) onScreen(ctx context.Context, r proc.VisitRequest, in, out *os.File) (code int, err error) {
	signals, giveBack := cmdline.TakeSignals(syscall.SIGWINCH, syscall.SIGCONT)
	defer giveBack()
	screen, err := proc.NewScreen(sizeOf(out))
	if err != nil {
		return 0, err
	}
	wake, woken, err := os.Pipe()
	if err != nil {
		return 0, errors.Join(err, screen.Close())
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		err = fmt.Errorf("%s: make the terminal raw: %w", v.Verb, err)
		return 0, errors.Join(err, screen.Close(), wake.Close(), woken.Close())
	}
	r.Screen = screen
	passed, over := make(chan os.Signal, 16), make(chan struct{})
	r.Signals = passed
	var working sync.WaitGroup
	working.Go(func() {
		passScreen(screenPass{signals: signals, to: passed, over: over, screen: screen, in: in, out: out})
	})
	var showing sync.WaitGroup
	showing.Go(func() { proc.Drain(screen, out) })
	working.Go(func() { typeInto(screen, in, wake) })
	exit, err := proc.Visit(ctx, r)
	_ = screen.SetReadDeadline(time.Now().Add(lingering))
	showing.Wait()
	close(over)
	err = errors.Join(err, term.Restore(int(in.Fd()), before), woken.Close())
	working.Wait()
	return exit.Code, errors.Join(err, wake.Close(), screen.Close())
}

// screenPass translates signals to this process while a command has the screen.
type screenPass struct {
	signals <-chan os.Signal
	to      chan<- os.Signal
	over    <-chan struct{}
	screen  *proc.Screen
	in, out *os.File
}

func passScreen(p screenPass) {
	for {
		select {
		case s := <-p.signals:
			switch s {
			case syscall.SIGWINCH:
				_ = p.screen.Resize(sizeOf(p.out))
			case syscall.SIGCONT:
				// The shell that stopped this process gave the terminal to
				// another meanwhile.
				_, _ = term.MakeRaw(int(p.in.Fd()))
				_ = p.screen.Resize(sizeOf(p.out))
			default:
				select {
				case p.to <- s:
				case <-p.over:
					return
				}
			}
		case <-p.over:
			return
		}
	}
}

// typeInto passes on typed input until wake is readable.
func typeInto(screen *proc.Screen, in, wake *os.File) {
	buf := make([]byte, 4096)
	for {
		if ready, err := cmdline.AwaitInput(int(in.Fd()), int(wake.Fd())); err != nil || !ready {
			return
		}
		n, err := in.Read(buf)
		if n > 0 {
			if _, err := screen.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// sizeOf is the size of a terminal; 24 rows of 80 columns, as most have, if it
// does not tell.
func sizeOf(out *os.File) proc.Size {
	cols, rows, err := term.GetSize(int(out.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		return proc.Size{Rows: 24, Cols: 80}
	}
	return proc.Size{Rows: uint16(rows), Cols: uint16(cols)}
}

// enterAgain runs the command in a workspace that has to be mounted, and in
// which no process runs any more. This process owns the run meanwhile, so that
// no other mounts it a second time.
func (v *Visit) enterAgain(ctx context.Context, lease *event.Leased) (code int, err error) {
	if _, running := v.Visited.Status.(*task.Running); running {
		return 0, exit.Usagef("%s: %s is between two steps; try again in a moment", v.Verb, v.Visited.ID)
	}
	owner, err := session.Own(ctx, v.Place, v.Run)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, owner.Close()) }()
	b, err := session.Open(ctx, v.Place, v.Run, owner)
	if err != nil {
		return 0, err
	}
	w := engine.WorkspaceOf(lease)
	private, err := os.MkdirTemp(v.Run.Attempt(v.Visited.ID, lease.Attempt), "visit-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, engine.RemoveBox(v.Run, private)) }()
	around, err := b.Deps.Sandbox(engine.SandboxRequest{Workspace: w, Private: filepath.Join(private, "box")})
	if err != nil {
		return 0, err
	}
	door := v.Run.Door(v.Visited.ID, lease.Attempt)
	if err := os.Remove(door); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link to nowhere
		return 0, err
	}
	host, err := b.Deps.Launcher.Start(ctx, proc.Spec{
		Run: v.Run.ID, Argv: engine.ShellCommand("read -r line"),
		Env: append([]string{"PATH=" + v.Env.Getenv("PATH"), "TMPDIR=" + cmp.Or(around.Tmp, v.Env.Getenv("TMPDIR"))}, around.Env...),
		Dir: w.Path(), Pipe: true, Sandbox: around.Sandbox, Door: door,
		Stdout: filepath.Join(private, "out"), Stderr: filepath.Join(private, "err"),
	})
	if err != nil {
		return 0, err
	}
	defer func() {
		host.Kill()
		host.Wait()
	}()
	return v.through(ctx, lease, w.Path())
}

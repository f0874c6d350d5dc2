package isolation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/apparmor"
	"agentswarm/swarm/box"
	"agentswarm/swarm/early"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/project"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/swarm/userns"
	"agentswarm/worktree"
	"agentswarm/worktree/precheck"
)

// Found is the sandbox and the backend of workspaces that a machine gives.
type Found struct {
	Level   box.Level
	Why     error // the reason that there is no better level; nil: it is the best
	Backend worktree.Backend
	// PassedOver are the reasons against cheaper backends.
	PassedOver []error
}

// Find finds the best that a machine gives for settings. A sandbox or a backend that was
// asked for by name and cannot be had is a [*refusal.Error]. self is the path of the running
// binary.
func Find(ctx context.Context, p *project.Project, self string, wanted Settings) (got Found, err error) {
	// Not by the kept binary: a plan that is refused has written nothing.
	if got.Level, got.Why, err = Probe(ctx, p, self); err != nil {
		return got, err
	}
	if wanted.Sandbox == SandboxRequire && !got.Level.Namespaces() {
		return got, refusal.New("%s: the sandbox here is %s; %s", wanted.SandboxSource(), got.Level.Short(), Advice(p.Getenv, self, got.Why))
	}
	for _, backend := range worktree.Backends() {
		if wanted.AnyBackend() || wanted.Backend == string(backend) {
			err := Possible(p, got.Level, backend)
			if err == nil {
				got.Backend = backend
				return got, nil
			}
			got.PassedOver = append(got.PassedOver, fmt.Errorf("%s: %w", backend, err))
		}
	}
	return got, refusal.New("%s: %s", wanted.BackendSource(), termtext.ErrorLine(errors.Join(got.PassedOver...)))
}

// Advice explains why there are no namespaces. self is the path of the running binary.
func Advice(getenv func(string) string, self string, why error) userns.Advice {
	if getenv("SWARM_RUN") != "" {
		return userns.Advice{Reason: "this is inside the sandbox of another run"}
	}
	return userns.Read(getenv).Explain(why, apparmor.Remedy(self, getenv))
}

// Possible returns the reason against a backend in a sandbox; nil: it works.
func Possible(p *project.Project, level box.Level, backend worktree.Backend) error {
	if backend == worktree.Overlay && !level.Overlay() {
		return fmt.Errorf("no overlay can be mounted in the sandbox %s", level)
	}
	return precheck.Refuses(backend, precheck.Surroundings{
		At: p.Root(), State: p.State.Dir, Home: p.Getenv("HOME"), Caches: box.CacheFolders(p.Getenv),
	})
}

// Probe finds the best sandbox, and the best view of HOME within it. It starts
// a command that does nothing in each, in a folder on the disk of the state.
// why tells the reason that there is no better sandbox. self is the path of the
// running binary.
func Probe(ctx context.Context, p *project.Project, self string) (level box.Level, why error, err error) {
	if err := p.CheckState(); err != nil {
		return box.None, nil, err
	}
	near := p.State.Dir
	for !fspath.Exists(near) {
		near = filepath.Dir(near)
	}
	dir, err := os.MkdirTemp(near, store.ProbePrefix)
	if err != nil {
		return box.None, nil, fmt.Errorf("try the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, worktree.RemoveAll(dir)) }()
	n := 0
	var apart *box.ViewRefusal
	level, why = box.Probe(func(level box.Level) (err error) {
		_, apart, err = box.ProbeHome(homeOf(p), level, func(view box.View) error {
			n++
			return trySandbox(ctx, p, tryRequest{
				self: self, level: level, view: view, dir: filepath.Join(dir, strconv.Itoa(n)),
			})
		})
		return err
	})
	if apart != nil {
		why = errors.Join(why, apart)
	}
	return level, why, nil
}

// homeOf is the HOME of a probe.
func homeOf(p *project.Project) box.Place {
	return box.Place{Home: p.Getenv("HOME"), State: filepath.Dir(p.State.Dir)}
}

type tryRequest struct {
	self  string
	level box.Level
	view  box.View
	dir   string
}

func trySandbox(ctx context.Context, p *project.Project, r tryRequest) error {
	private := filepath.Join(r.dir, "box")
	if err := os.MkdirAll(private, 0o700); err != nil {
		return err
	}
	w, err := box.Compose(r.level, false, box.Place{
		State: private, Home: p.Getenv("HOME"), Private: private, Getenv: p.Getenv,
		View: r.view,
	})
	if err != nil {
		return err
	}
	sandbox, err := json.Marshal(w)
	if err != nil {
		return err
	}
	started, err := Launcher(r.self, r.level).Start(ctx, proc.Spec{
		Argv: []string{"/bin/sh", "-c", ":"}, Dir: "/", Sandbox: sandbox,
		Stdout: filepath.Join(r.dir, "out"), Stderr: filepath.Join(r.dir, "err"),
	})
	if err != nil {
		return unstarted(r.level, err)
	}
	if exit := started.Wait(); exit.Reason != proc.Exited || exit.Code != 0 {
		return errors.New(exit.Words())
	}
	return nil
}

// unstarted names the step that failed before anything ran in the sandbox. The
// start of a process makes the namespaces of a sandbox. If their number is
// limited, the system's error says that the device is full.
func unstarted(level box.Level, err error) error {
	if !level.Namespaces() {
		return err
	}
	for _, errno := range []unix.Errno{unix.ENOSPC, unix.EUSERS} {
		if errors.Is(err, errno) {
			return fmt.Errorf("make namespaces: no more are allowed, by max_*_namespaces in /proc/sys/user: %w", errno)
		}
	}
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("make namespaces: %w", unix.EPERM)
	}
	return err
}

// Launcher starts supervisors in the sandbox of a level. self is the path of the running binary.
func Launcher(self string, level box.Level) *proc.Launcher {
	return &proc.Launcher{
		Binary: self, Args: []string{early.Supervise},
		Attr: func() *syscall.SysProcAttr { return box.Attr(level) },
	}
}

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentswarm/swarm/captureref"
	"agentswarm/swarm/proc"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Product is swarm, put together for a clone and a backend.
type Product interface {
	// Self is the binary.
	Self() string
	// Shift prepares the work of a single run. It returns an error if that
	// fails.
	Shift(ctx context.Context) (*Shift, error)
}

// NotHereError says why a backend does not work.
type NotHereError struct{ Reason string }

func (e *NotHereError) Error() string { return e.Reason }

// Shift holds the tools of the engine in a single run.
type Shift struct {
	Run      string // required; its id
	Dir      string // required; of the run
	Trees    *worktree.Trees
	Launcher *proc.Launcher
	Environ  []string // the environment of commands
	// Enclose makes the sandbox around a workspace. Writes outside of the
	// workspace go to a folder of their own.
	Enclose func(w worktree.Workspace, dir, private string) (json.RawMessage, error)
	Close   func() error
}

// place is a workspace and the folder that is kept beside it.
type place struct {
	*worktree.Workspace
	dir string
}

// lease makes a workspace as the engine does.
func (s *Shift) lease(ctx context.Context, r worktree.LeaseRequest) (*place, error) {
	p := &place{dir: filepath.Join(s.Dir, "bench", r.Name)}
	if err := os.MkdirAll(filepath.Join(p.dir, "artifacts"), 0o700); err != nil {
		return nil, err
	}
	r.Saved = filepath.Join(p.dir, "index")
	var err error
	p.Workspace, err = s.Trees.Lease(ctx, r)
	return p, err
}

// run runs a command where an agent would be, and waits for its end.
func (s *Shift) run(ctx context.Context, p *place, argv ...string) error {
	box := filepath.Join(p.dir, "box")
	sandbox, err := s.Enclose(*p.Workspace, p.dir, box)
	if err != nil {
		return err
	}
	out, said := filepath.Join(p.dir, "stdout"), filepath.Join(p.dir, "stderr")
	for _, file := range []string{out, said} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	started, err := s.Launcher.Start(ctx, proc.Spec{
		Run: s.Run, Argv: argv, Env: s.Environ, Dir: p.Path(), Sandbox: sandbox, Stdout: out, Stderr: said,
	})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, started.Kill)
	defer stop()
	exit := started.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit.Reason != proc.Exited || exit.Code != 0 {
		text, _ := os.ReadFile(said) // it helps where it can be read
		return fmt.Errorf("%s in %s: ended with %d %s %s", argv[0], p.Path(), exit.Code, exit.Text, text)
	}
	return nil
}

// name returns the name of the i-th workspace.
func name(i int) string { return fmt.Sprintf("a%d.1", i+1) }

// enter makes a workspace and runs a command in it that does nothing.
func (s *Shift) enter(ctx context.Context, i int, l worktree.LeaseRequest) (*place, error) {
	l.Name = name(i)
	p, err := s.lease(ctx, l)
	if err != nil {
		return p, err
	}
	return p, s.run(ctx, p, "true")
}

// drop removes a workspace.
func (s *Shift) drop(ctx context.Context, p *place) error {
	if p == nil || p.Workspace == nil {
		return nil
	}
	out, err := s.Trees.Release(ctx, *p.Workspace, nil)
	if out.Trashed != "" {
		err = errors.Join(err, worktree.RemoveAll(out.Trashed))
	}
	return errors.Join(err, worktree.RemoveAll(p.dir))
}

// captureRequest asks for a capture of a workspace as the engine does.
func (s *Shift) captureRequest(p *place, round int) worktree.CaptureRequest {
	ref := captureref.Attempt(s.Run, p.Name, round)
	return worktree.CaptureRequest{
		Workspace: *p.Workspace, Objects: filepath.Join(p.dir, "objects"), Ref: ref, HeadRef: captureref.Head(ref),
		PatchFile: filepath.Join(p.dir, fmt.Sprint("patch-", round)), Message: "bench\n",
		Author: git.Person{Name: "bench", Email: "bench@localhost"},
	}
}

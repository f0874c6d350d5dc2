// Package copies makes, ends and captures copies: workspaces that are made for a person
// from the work of an ended agent. A conflict is resolved in a copy, too.
//
// It runs no command in a copy and prints no output.
package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/merge"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
	"agentswarm/worktree/step"
)

// Record describes a copy. It lies in the copy's folder, so that a later process can end
// a copy after a crash.
type Record struct {
	Schema    string             `json:"schema"`
	Attempt   int                `json:"attempt"`
	Commit    git.Hash           `json:"commit,omitempty"` // the work that was put back
	Workspace worktree.Workspace `json:"workspace"`
	// Mark is the state of the workspace when it was handed over. It is empty
	// before, when no person can have changed it.
	Mark string `json:"mark,omitempty"`
	// Pid and Start are the command that runs in it.
	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	// Resolve is set for a copy in which a conflict is resolved. It stays until
	// the merge goes on or is given up.
	Resolve *Resolution `json:"resolve,omitempty"`
}

// Resolution holds all that a later process needs to go on with the resolution of a conflict.
type Resolution struct {
	Ref    string               `json:"ref"` // the branch
	Tip    git.Hash             `json:"tip"` // where it was
	Label  string               `json:"label"`
	With   []task.ID            `json:"with,omitempty"`
	Paths  []string             `json:"paths"`
	Marks  []merge.MarkedFile   `json:"marks,omitempty"`
	Labels merge.Labels         `json:"labels"`
	Verify string               `json:"verify,omitempty"` // run before it lands
	Style  landing.StyleRequest `json:"style,omitzero"`
	Hold   string               `json:"hold"` // our ref on the commit with markers
	// Partial is set if a part of the agent's patch is in conflict.
	Partial bool `json:"partial,omitempty"`
}

// ResolveCommands names the two commands that end the resolution of a conflict. calls is
// how the program was called.
func ResolveCommands(calls, address string) string {
	return fmt.Sprintf("`%s merge --continue %s` lands what is there, `%s merge --abort %s` gives it up", calls, address, calls, address)
}

// Resolutions returns the copies of a run in which conflicts are resolved: those of the
// agent or, if that is empty, of all agents. They are not locked. It returns an error if
// the copies cannot be listed.
func Resolutions(run *store.Run, agent task.ID) ([]*store.Copy, error) {
	all, err := run.Copies()
	return slices.DeleteFunc(all, func(c *store.Copy) bool {
		var record Record
		return agent != "" && c.Agent != agent || c.Read(&record) != nil || record.Resolve == nil || record.Mark == ""
	}), err
}

// Maker makes and opens the copies of a repository.
type Maker struct {
	Repo  *git.Repo    // required
	State *store.State // required
	// BaseSize is how many bytes shared checkouts may take; 0: the default.
	BaseSize int64
	// Confine returns how filters of git run that read a copy. The view is that of the
	// copy's run; nil: the run cannot be read. Required.
	Confine func(run string, v *store.View) (git.Confine, error)
	// Keep has the commands of git end with this process. It is called before a change of
	// the repository. Required.
	Keep func()
	// Step is called between the steps of making a workspace. Nil: it is not called.
	Step step.Hook
}

// Copy is an open copy, which this process has locked. [Copy.End] or Close ends that.
type Copy struct {
	*store.Copy
	Trees  *worktree.Trees
	Record Record

	maker *Maker
}

// Request asks for a copy of the work of an agent.
type Request struct {
	Run   *store.Run  // required
	View  *store.View // of the run; required
	Agent task.ID     // required
	From  Source      // required
}

// Make makes a copy. After an error nothing of it is left.
func (m *Maker) Make(ctx context.Context, r Request) (_ *Copy, err error) {
	m.Keep()
	refs, err := m.Repo.RefsUnder(ctx, captureref.Copies(r.Run.ID))
	if err != nil {
		return nil, err
	}
	c := &Copy{maker: m}
	c.Copy, err = r.Run.NewCopy(r.Agent, func(n int) (bool, error) {
		name := store.Copy{Run: r.Run.ID, Agent: r.Agent, N: n}
		ref := captureref.Copies(r.Run.ID) + name.Name()
		_, changed := refs[ref]
		_, committed := refs[captureref.Head(ref)]
		return changed || committed || fspath.Exists(patch.CopyFolder(r.Run, &name)), nil
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Remove())
		}
	}()
	if c.Trees, err = m.trees(c.Copy, m.Repo.Thaw(r.Run.Frozen())); err != nil {
		return nil, err
	}
	if err := c.confine(r.View); err != nil {
		return nil, err
	}
	c.Trees.Modules = landing.ModuleSource{Repo: m.Repo, Stores: r.Run.Modules()}
	// As into any workspace of the run.
	c.Trees.Include, err = include.Find(ctx, include.Request{
		Repo: m.Repo, Base: git.Hash(r.View.Identity.Base.Commit), Except: []string{m.State.Dir},
	})
	if err != nil {
		return nil, err
	}
	name := c.Name() + ".copy"
	c.Record = Record{
		Schema: "swarm.copy/1", Attempt: r.From.Attempt, Commit: r.From.Commit, Resolve: r.From.Resolve,
		Workspace: worktree.Workspace{
			Name: name, Dir: filepath.Join(c.Trees.Dir, name), Base: r.From.Base,
			Index: filepath.Join(c.Dir, "index"),
		},
	}
	if err := c.Write(&c.Record); err != nil {
		return nil, err
	}
	return c, c.fill(ctx)
}

// Take locks a copy that another process made, and reads its record. It returns nil where
// another process has the copy open.
func (m *Maker) Take(of *store.Copy, run *store.Run, v *store.View) (*Copy, error) {
	locked, err := run.TakeCopy(of.Agent, of.N)
	if err != nil || locked == nil {
		return nil, err
	}
	c := &Copy{Copy: locked, maker: m}
	err = locked.Read(&c.Record)
	if err == nil {
		c.Trees, err = m.trees(locked, m.Repo.Thaw(run.Frozen()))
	}
	if err == nil {
		err = c.confine(v)
	}
	if err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	return c, nil
}

// trees makes and clears the workspace of a copy.
func (m *Maker) trees(c *store.Copy, frozen *git.Frozen) (*worktree.Trees, error) {
	return worktree.New(worktree.Config{
		Repo: m.Repo, Frozen: frozen, Dir: c.Trees(), Trash: m.State.Trash(),
		LockFile: m.State.LockFile("worktrees"), Bases: m.State.Bases(), BaseSize: m.BaseSize, Cores: runtime.NumCPU(), Step: m.Step,
	})
}

// confine has filters read the copy in the sandbox of its run.
func (c *Copy) confine(v *store.View) error {
	confine, err := c.maker.Confine(c.Run, v)
	if err == nil {
		c.Trees.Confine = confine
		c.Trees.Own = git.Hash(v.Identity.Base.Commit)
	}
	return err
}

// fill makes the workspace. When it fails nothing of it is left.
func (c *Copy) fill(ctx context.Context) error {
	r := &c.Record
	w, err := c.Trees.Lease(ctx, worktree.LeaseRequest{
		Name: r.Workspace.Name, Base: r.Workspace.Base, Saved: r.Workspace.Index,
	})
	if err != nil {
		return err
	}
	r.Workspace = *w
	if r.Commit != "" {
		err = c.Trees.Restore(ctx, *w, r.Commit)
	}
	if err == nil {
		r.Mark, err = c.Trees.Mark(ctx, *w)
	}
	if err == nil {
		err = c.Write(r)
	}
	if err != nil {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, c.Trees.Drop(dropping, *w))
	}
	return err
}

// Begun records the process of the command that runs in the copy.
func (c *Copy) Begun(pid int, start uint64) error {
	c.Record.Pid, c.Record.Start = pid, start
	return c.Write(&c.Record)
}

// Kept is a change of a person that is kept after the end of a copy, or the fact that there is none.
type Kept struct {
	Text    string // required
	Where   string // a file, a folder or a commit; empty: nowhere
	Address string // within the run, for merge; empty: none
}

// End removes a copy in which no command runs any more. It first keeps the
// changes there. After an error the copy still exists.
func (c *Copy) End(ctx context.Context) (kept []Kept, err error) {
	w := c.Record.Workspace
	if !fspath.Exists(w.Dir) {
		return c.endGone(ctx)
	}
	now, err := c.Trees.Mark(ctx, w)
	if err == nil && now == c.Record.Mark {
		if err := c.Trees.Drop(ctx, w); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return nil, c.Remove()
	}
	got, kept, err := c.capture(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	out, err := c.Trees.Release(ctx, w, got)
	if err != nil {
		return kept, errors.Join(err, c.Close())
	}
	if out.Trashed != "" {
		kept = append(kept, Kept{Text: "all of it, with files that are ignored, is in the trash", Where: out.Trashed})
	}
	return kept, c.Remove()
}

// endGone ends a copy whose folder the person has removed. Their commits are kept.
func (c *Copy) endGone(ctx context.Context) ([]Kept, error) {
	w := c.Record.Workspace
	kept := []Kept{{Text: "the copy was removed: there is nothing to keep"}}
	if head, err := c.maker.Repo.HeadOf(ctx, w.Admin); err == nil && head != w.Base {
		ref := captureref.Head(captureref.Copies(c.Run) + c.Name())
		err := c.maker.Repo.UpdateRefs(ctx, "swarm "+c.Name(), git.RefUpdate{Ref: ref, New: head})
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		kept = []Kept{{Text: "the copy was removed; what you committed is kept", Where: "commit " + string(head)}}
	}
	if err := c.Trees.Drop(ctx, w); err != nil {
		return kept, errors.Join(err, c.Close())
	}
	return kept, c.Remove()
}

// capture keeps the changes in the copy, if there are any.
func (c *Copy) capture(ctx context.Context) (*worktree.Capture, []Kept, error) {
	run, err := c.maker.State.Run(c.Run)
	if err != nil {
		return nil, nil, err
	}
	folder := patch.CopyFolder(run, c.Copy)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, err
	}
	ref := captureref.Copies(c.Run) + c.Name()
	who := git.Swarm(time.Now())
	got, err := c.Trees.Capture(ctx, worktree.CaptureRequest{
		Workspace: c.Record.Workspace, Objects: filepath.Join(c.Dir, "objects"),
		Ref: ref, HeadRef: captureref.Head(ref), PatchFile: filepath.Join(folder, "patch"), Modules: run.Modules(),
		Message: fmt.Sprintf("a copy of %s, attempt %d of run %s, as a person left it\n", c.Agent, c.Record.Attempt, c.Run),
		Author:  who, Committer: who,
	})
	if err != nil {
		return nil, nil, err
	}
	same, err := c.same(ctx, got)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case same:
		return got, nil, c.forget(ctx, got, folder)
	case got.Changed:
		return got, []Kept{{Text: "what you changed is kept", Where: got.Patch, Address: strings.TrimPrefix(got.Ref, captureref.Copies(c.Run))}}, nil
	case got.Head != "":
		return got, []Kept{{Text: "what you committed is kept", Where: "commit " + string(got.Head)}}, nil
	default:
		return got, []Kept{{
			Text: fmt.Sprintf("you took back all that %s changed: there is nothing to keep", c.Agent),
		}}, ignoreMissing(os.Remove(folder))
	}
}

// same reports whether the copy is as it was handed over, without a commit.
func (c *Copy) same(ctx context.Context, got *worktree.Capture) (bool, error) {
	before := c.Record.Workspace.Base
	if c.Record.Commit != "" {
		before = c.Record.Commit
	}
	tree, err := c.maker.Repo.TreeOf(ctx, before)
	return tree == got.Tree && got.Head == "", err
}

// forget takes back a capture that holds nothing new.
func (c *Copy) forget(ctx context.Context, got *worktree.Capture, folder string) error {
	if got.Ref != "" {
		err := c.maker.Repo.UpdateRefs(ctx, "swarm "+c.Name(), git.RefUpdate{Ref: got.Ref, Old: got.Commit})
		if err != nil {
			return err
		}
	}
	if got.Patch != "" {
		if err := ignoreMissing(os.Remove(got.Patch)); err != nil {
			return err
		}
	}
	return ignoreMissing(os.Remove(folder))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/landing"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
)

// copyRecord is what is known of a copy, for whoever clears up after a crash.
type copyRecord struct {
	Schema    string             `json:"schema"`
	Attempt   int                `json:"attempt"`
	Commit    git.Hash           `json:"commit,omitempty"` // the work that was put back
	Workspace worktree.Workspace `json:"workspace"`
	// Mark is what the workspace was when it was handed over; empty before,
	// when nobody can have changed anything.
	Mark string `json:"mark,omitempty"`
	// Pid and Start are the command that runs in it.
	Pid   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"`
	// Resolve is set for a copy in which a conflict is resolved. It stays until
	// the merge goes on or is given up.
	Resolve *resolveRecord `json:"resolve,omitempty"`
}

// copied is the workspace of an agent that has ended, made anew for a person.
type copied struct {
	*place
	*store.Copy
	trees  *worktree.Trees
	record copyRecord
}

// openCopy makes a copy of what an agent left.
func (v *visit) openCopy(ctx context.Context, from leftover) (_ *copied, err error) {
	v.keep()
	refs, err := v.repo.RefsUnder(ctx, captureref.Copies(v.run.ID))
	if err != nil {
		return nil, err
	}
	c := &copied{place: v.place}
	c.Copy, err = v.run.NewCopy(v.agent.ID, func(n int) (bool, error) {
		name := store.Copy{Run: v.run.ID, Agent: v.agent.ID, N: n}
		ref := captureref.Copies(v.run.ID) + name.Name()
		_, changed := refs[ref]
		_, committed := refs[captureref.Head(ref)]
		return changed || committed || fspath.Exists(patch.CopyFolder(v.run, &name)), nil
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Remove())
		}
	}()
	if c.trees, err = v.copyTrees(c.Copy, v.repo.Thaw(v.run.Frozen())); err != nil {
		return nil, err
	}
	if err := c.wall(v.view); err != nil {
		return nil, err
	}
	c.trees.Modules = landing.ModuleSource{Repo: v.repo, Stores: v.run.Modules()}
	// As into any workspace of the run.
	c.trees.Include, err = include.Find(ctx, include.Request{
		Repo: v.repo, Base: git.Hash(v.view.Identity.Base.Commit), Except: []string{v.state.Dir},
	})
	if err != nil {
		return nil, err
	}
	name := c.Name() + ".copy"
	c.record = copyRecord{
		Schema: "swarm.copy/1", Attempt: from.attempt, Commit: from.commit, Resolve: from.resolve,
		Workspace: worktree.Workspace{
			Name: name, Dir: filepath.Join(c.trees.Dir, name), Base: from.base,
			Index: filepath.Join(c.Dir, "index"),
		},
	}
	if err := c.Write(&c.record); err != nil {
		return nil, err
	}
	return c, c.fill(ctx)
}

// copyTrees makes and clears the workspace of a copy.
func (p *place) copyTrees(c *store.Copy, frozen *git.Frozen) (*worktree.Trees, error) {
	return worktree.New(worktree.Config{
		Repo: p.repo, Frozen: frozen, Dir: c.Trees(), Trash: p.state.Trash(),
		LockFile: p.state.LockFile("worktrees"), Bases: p.state.Bases(), BaseSize: p.baseSize(), Cores: runtime.NumCPU(), Step: p.env.Step,
	})
}

// wall has filters read what is in the copy behind the walls of its run.
func (c *copied) wall(v *store.View) error {
	recorded, err := latestConfig(v)
	if err == nil {
		c.trees.Confine = c.confineLater(c.Run, recorded.isolation)
		c.trees.Own = git.Hash(v.Identity.Base.Commit)
	}
	return err
}

// fill makes the workspace. When it fails nothing of it is left.
func (c *copied) fill(ctx context.Context) error {
	r := &c.record
	w, err := c.trees.Lease(ctx, worktree.LeaseRequest{
		Name: r.Workspace.Name, Base: r.Workspace.Base, Saved: r.Workspace.Index,
	})
	if err != nil {
		return err
	}
	r.Workspace = *w
	if r.Commit != "" {
		err = c.trees.Restore(ctx, *w, r.Commit)
	}
	if err == nil {
		r.Mark, err = c.trees.Mark(ctx, *w)
	}
	if err == nil {
		err = c.Write(r)
	}
	if err != nil {
		dropping, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, c.trees.Drop(dropping, *w))
	}
	return err
}

// begun notes the command that runs in the copy.
func (c *copied) begun(pid int, start uint64) error {
	c.record.Pid, c.record.Start = pid, start
	return c.Write(&c.record)
}

// remains are what is left of a copy, where there is anything to keep.
type remains struct {
	what  string
	where string // a file, a folder or a commit; empty for nowhere
	name  string // the address that merge takes; empty for none
}

// end takes the copy away once nobody is in it. What was changed there is
// kept first. After an error the copy is still there.
func (c *copied) end(ctx context.Context) (kept []remains, err error) {
	w := c.record.Workspace
	if !fspath.Exists(w.Dir) {
		return c.endGone(ctx)
	}
	now, err := c.trees.Mark(ctx, w)
	if err == nil && now == c.record.Mark {
		if err := c.trees.Drop(ctx, w); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return nil, c.Remove()
	}
	got, kept, err := c.capture(ctx)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	out, err := c.trees.Release(ctx, w, got)
	if err != nil {
		return kept, errors.Join(err, c.Close())
	}
	if out.Trashed != "" {
		kept = append(kept, remains{what: "all of it, with files that are ignored, is in the trash", where: out.Trashed})
	}
	return kept, c.Remove()
}

// endGone takes away what is left of a copy whose folder the person has
// removed. What they committed before is kept.
func (c *copied) endGone(ctx context.Context) ([]remains, error) {
	w := c.record.Workspace
	kept := []remains{{what: "the copy was removed: there is nothing to keep"}}
	if head, err := c.repo.HeadOf(ctx, w.Admin); err == nil && head != w.Base {
		ref := captureref.Head(captureref.Copies(c.Run) + c.Name())
		err := c.repo.UpdateRefs(ctx, "swarm "+c.Name(), git.RefUpdate{Ref: ref, New: head})
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		kept = []remains{{what: "the copy was removed; what you committed is kept", where: "commit " + string(head)}}
	}
	if err := c.trees.Drop(ctx, w); err != nil {
		return kept, errors.Join(err, c.Close())
	}
	return kept, c.Remove()
}

// capture keeps what was changed in the copy, if anything was.
func (c *copied) capture(ctx context.Context) (*worktree.Capture, []remains, error) {
	run, err := c.state.Run(c.Run)
	if err != nil {
		return nil, nil, err
	}
	folder := patch.CopyFolder(run, c.Copy)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, err
	}
	ref := captureref.Copies(c.Run) + c.Name()
	who := git.Swarm(time.Now())
	got, err := c.trees.Capture(ctx, worktree.CaptureRequest{
		Workspace: c.record.Workspace, Objects: filepath.Join(c.Dir, "objects"),
		Ref: ref, HeadRef: captureref.Head(ref), PatchFile: filepath.Join(folder, "patch"), Modules: run.Modules(),
		Message: fmt.Sprintf("a copy of %s, attempt %d of run %s, as a person left it\n", c.Agent, c.record.Attempt, c.Run),
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
		return got, []remains{{what: "what you changed is kept", where: got.Patch, name: strings.TrimPrefix(got.Ref, captureref.Copies(c.Run))}}, nil
	case got.Head != "":
		return got, []remains{{what: "what you committed is kept", where: "commit " + string(got.Head)}}, nil
	default:
		return got, []remains{{
			what: fmt.Sprintf("you took back all that %s changed: there is nothing to keep", c.Agent),
		}}, ignoreMissing(os.Remove(folder))
	}
}

// same tells whether the copy holds what it held when it was handed over, and
// nothing was committed there.
func (c *copied) same(ctx context.Context, got *worktree.Capture) (bool, error) {
	before := c.record.Workspace.Base
	if c.record.Commit != "" {
		before = c.record.Commit
	}
	tree, err := c.repo.TreeOf(ctx, before)
	return tree == got.Tree && got.Head == "", err
}

// forget takes back a capture that holds nothing new.
func (c *copied) forget(ctx context.Context, got *worktree.Capture, folder string) error {
	if got.Ref != "" {
		err := c.repo.UpdateRefs(ctx, "swarm "+c.Name(), git.RefUpdate{Ref: got.Ref, Old: got.Commit})
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

// hasRun reports whether a run is there.
func (p *place) hasRun(id string) bool {
	run, err := p.state.Run(id)
	return err == nil && fspath.Exists(run.Dir)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copies keeps and clears copies that a crash left.
func (g *collector) copies(ctx context.Context) error {
	left, err := g.state.LeftCopies()
	if err != nil {
		return err
	}
	for _, c := range left {
		kept, err := g.leftCopy(ctx, c)
		for _, r := range kept {
			if r.where != "" {
				g.out.Kept = append(g.out.Kept, gcKept{
					Path: r.where, Reason: fmt.Sprintf("of a copy of %s/%s that a crash left: %s", c.Run, c.Agent, r.what),
				})
			}
		}
		if err != nil { // the others do not wait for it
			g.out.Kept = append(g.out.Kept, gcKept{Path: c.Dir, Reason: err.Error()})
		}
	}
	return nil
}

// leftCopy ends one copy, which it gives up in any case.
func (g *collector) leftCopy(ctx context.Context, c *store.Copy) (kept []remains, err error) {
	k := &copied{place: g.place, Copy: c}
	err = c.Read(&k.record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, c.Close())
	}
	if proc.Alive(k.record.Pid, k.record.Start) {
		return nil, c.Close() // somebody is in it still
	}
	if k.record.Resolve != nil && k.record.Mark != "" && g.hasRun(c.Run) {
		return []remains{{what: "a conflict is resolved there: " + resolveWays(g.env.Calls, c.Run+"/"+string(c.Agent)), where: c.Dir}}, c.Close()
	}
	if g.dry {
		return []remains{{what: "what was changed in it will be kept", where: c.Dir}}, c.Close()
	}
	var frozen *git.Frozen
	run, rerr := g.state.Run(c.Run)
	if rerr == nil {
		frozen = g.repo.Thaw(run.Frozen())
	}
	if k.trees, err = g.copyTrees(c, frozen); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if rerr == nil {
		if v, err := run.View(); err != nil || k.wall(v) != nil {
			k.trees.Confine = g.confineLater(c.Run, isolation{}) // nobody knows what was asked for
		}
	}
	switch {
	case k.record.Mark != "" && frozen != nil:
		g.keep()
		g.removed("workspace", c.Run+"/"+c.Name(), 0)
		return k.end(ctx)
	case k.record.Mark != "":
		out, err := k.trees.Release(ctx, k.record.Workspace, nil)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		g.out.Moved = append(g.out.Moved, gcMoved{Path: k.record.Workspace.Dir, Trash: out.Trashed})
		return nil, c.Remove()
	}
	// Nobody has been in it.
	strays, err := k.trees.Strays(nil)
	for _, w := range strays {
		err = errors.Join(err, k.trees.Drop(ctx, w))
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	g.removed("workspace", c.Run+"/"+c.Name(), 0)
	return nil, c.Remove()
}

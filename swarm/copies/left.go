package copies

import (
	"context"
	"errors"
	"io/fs"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/proc"
	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// LeftRequest asks for the end of a copy that a crash left.
type LeftRequest struct {
	Copy   *store.Copy // required; it is locked, and closed in any case
	DryRun bool
	Calls  string // how the program was called, for commands in messages; required
}

// Left is the outcome of a [LeftRequest].
type Left struct {
	Kept []Kept
	// Removed is set if the workspace of the copy is removed.
	Removed bool
	// Moved is the folder of a workspace that is in the trash now; empty: none is.
	Moved string
	Trash string // where it is in the trash
}

// EndLeft ends a copy that a crash left. A copy in which a command still runs stays, and
// so does a copy in which a conflict is resolved.
func (m *Maker) EndLeft(ctx context.Context, r LeftRequest) (out Left, err error) {
	c := &Copy{Copy: r.Copy, maker: m}
	err = c.Read(&c.Record)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, errors.Join(err, c.Close())
	}
	if proc.Alive(c.Record.Pid, c.Record.Start) {
		return out, c.Close() // a command still runs in it
	}
	if c.Record.Resolve != nil && c.Record.Mark != "" && m.hasRun(c.Run) {
		out.Kept = []Kept{{Text: "a conflict is resolved there: " + ResolveCommands(r.Calls, c.Run+"/"+string(c.Agent)), Where: c.Dir}}
		return out, c.Close()
	}
	if r.DryRun {
		out.Kept = []Kept{{Text: "what was changed in it will be kept", Where: c.Dir}}
		return out, c.Close()
	}
	var frozen *git.Frozen
	run, rerr := m.State.Run(c.Run)
	if rerr == nil {
		frozen = m.Repo.Thaw(run.Frozen())
	}
	if c.Trees, err = m.trees(c.Copy, frozen); err != nil {
		return out, errors.Join(err, c.Close())
	}
	if rerr == nil {
		if v, err := run.View(); err != nil || c.confine(v) != nil {
			// The sandbox that was asked for is unknown.
			if c.Trees.Confine, err = m.Confine(c.Run, nil); err != nil {
				return out, errors.Join(err, c.Close())
			}
		}
	}
	switch {
	case c.Record.Mark != "" && frozen != nil:
		m.Keep()
		out.Kept, err = c.End(ctx)
		out.Removed = err == nil
		return out, err
	case c.Record.Mark != "":
		gone, err := c.Trees.Release(ctx, c.Record.Workspace, nil)
		if err != nil {
			return out, errors.Join(err, c.Close())
		}
		out.Moved, out.Trash = c.Record.Workspace.Dir, gone.Trashed
		return out, c.Remove()
	}
	// No person has entered it.
	strays, err := c.Trees.Strays(nil)
	for _, w := range strays {
		err = errors.Join(err, c.Trees.Drop(ctx, w))
	}
	if err != nil {
		return out, errors.Join(err, c.Close())
	}
	err = c.Remove()
	out.Removed = err == nil
	return out, err
}

// hasRun reports whether a run is there.
func (m *Maker) hasRun(id string) bool {
	run, err := m.State.Run(id)
	return err == nil && fspath.Exists(run.Dir)
}

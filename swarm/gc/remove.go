package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentswarm/internal/fspath"
	"agentswarm/internal/termtext"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/engine"
	"agentswarm/swarm/event"
	"agentswarm/swarm/landing/lander"
	"agentswarm/swarm/patch"
	"agentswarm/swarm/refusal"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// Remover removes runs.
type Remover struct {
	Repo  *git.Repo    // required
	State *store.State // required
	// Runs recovers and opens runs. Required.
	Runs Runs
	// Calls is how the program was called, for commands in messages. Required.
	Calls string
}

// Runs gives access to the runs of a repository.
type Runs interface {
	// Recover captures the work that a run left whose process died, and the work that could
	// not be captured before. It does nothing while another process has the run.
	Recover(context.Context, *store.Run) (*store.View, error)
	// Open takes a run for a change of it. The error says who has it, if another process does.
	Open(context.Context, *store.Run) (*OpenRun, error)
}

// OpenRun is a run that this process owns. Close its owner.
type OpenRun struct {
	Owner      *store.Owner
	Workspaces Workspaces
}

// Workspaces moves workspaces of a run into the trash.
type Workspaces interface {
	Release(context.Context, worktree.Workspace, *worktree.Capture) (worktree.Released, error)
}

// Remove moves a run into the trash, and before it the workspaces that it still has. It
// returns the run's folder there. A run that another process has is a [*refusal.Error].
func (r *Remover) Remove(ctx context.Context, run *store.Run) (to string, err error) {
	if err := r.clear(ctx, run); err != nil {
		return "", err
	}
	to, err = run.Remove(ctx)
	var busy *store.BusyError
	if errors.As(err, &busy) {
		return "", refusal.Of(busy)
	}
	if err != nil {
		return "", err
	}
	return to, removeTrees(r.State.Trees(run.ID)) // it is empty
}

// clear moves the remaining workspaces of a run into the trash. It moves none
// of an unreadable run, as its workspaces are unknown.
func (r *Remover) clear(ctx context.Context, run *store.Run) error {
	v, err := run.View()
	if err != nil || !HasWorkspaces(v) {
		return nil
	}
	open, err := r.Runs.Open(ctx, run)
	if err != nil {
		return err
	}
	owner := open.Owner
	for _, a := range v.Agents {
		for _, l := range a.Leases {
			gone, err := open.Workspaces.Release(ctx, engine.WorkspaceOf(l), nil)
			if err == nil {
				_, err = owner.Append(&event.Released{Agent: a.ID, Attempt: l.Attempt, Trash: gone.Trashed})
			}
			if err != nil {
				return errors.Join(err, owner.Close())
			}
		}
	}
	if l := v.Shared; l != nil {
		gone, err := open.Workspaces.Release(ctx, engine.WorkspaceOf(l), nil)
		if err == nil {
			_, err = owner.Append(&event.Released{Shared: true, Trash: gone.Trashed})
		}
		if err != nil {
			return errors.Join(err, owner.Close())
		}
	}
	return owner.Close()
}

// HasWorkspaces reports whether workspaces of a run are left.
func HasWorkspaces(v *store.View) bool {
	return v.Shared != nil || slices.ContainsFunc(v.Agents, func(a *store.Agent) bool { return len(a.Leases) > 0 })
}

// Loss is the work that would be lost with a run.
type Loss struct {
	Reason string // follows the name of the run
	Advice string
}

// Loss finds work of a run that has ended which would be lost with it; nil: nothing would.
func (r *Remover) Loss(ctx context.Context, run *store.Run, v *store.View) (*Loss, error) {
	var unlanded []*store.Agent
	for _, agent := range v.Agents {
		if agent.Patch() != nil && !agent.Landed() {
			unlanded = append(unlanded, agent)
		}
		for _, l := range agent.Leases {
			if fspath.Exists(l.Dir) {
				return &Loss{
					Reason: fmt.Sprintf("keeps the workspace %s, which could not be captured", l.Dir),
					Advice: "--force moves it into the trash",
				}, nil
			}
		}
	}
	if len(unlanded) > 0 {
		return &Loss{
			Reason: fmt.Sprintf("has %s that landed nowhere: %s", termtext.Count(len(unlanded), "patch", "patches"), lander.Names(unlanded)),
			Advice: "merge them first, or give --force",
		}, nil
	}
	return r.lossOfCopies(ctx, run, v)
}

// lossOfCopies finds changes of people in copies of a run's workspaces that they did not
// merge or apply.
func (r *Remover) lossOfCopies(ctx context.Context, run *store.Run, v *store.View) (*Loss, error) {
	// The folder of an open copy goes only once its changes have a ref.
	open, err := run.Copies()
	if err != nil {
		return nil, err
	}
	for _, c := range open {
		var record copies.Record
		if err := c.Read(&record); err == nil && record.Resolve != nil {
			return &Loss{
				Reason: fmt.Sprintf("has a conflict of %s that is being resolved: %s", c.Agent, c.Dir),
				Advice: copies.ResolveCommands(r.Calls, run.ID+"/"+string(c.Agent)),
			}, nil
		}
	}
	if len(open) > 0 {
		return &Loss{
			Reason: fmt.Sprintf("has a copy of %s that is open: %s", open[0].Agent, open[0].Dir),
			Advice: fmt.Sprintf("leave it first; one that a crash left is captured by `%s gc`", r.Calls),
		}, nil
	}
	refs, err := r.Repo.RefsUnder(ctx, captureref.Copies(run.ID))
	if err != nil {
		return nil, err
	}
	landed := patch.LandedCopies(v)
	maps.DeleteFunc(refs, func(ref string, _ git.Hash) bool { return landed[strings.TrimPrefix(ref, captureref.Copies(run.ID))] })
	if len(refs) == 0 {
		return nil, nil // no work would be lost
	}
	kept := slices.Sorted(maps.Keys(refs))
	return &Loss{
		Reason: "has changes in copies of its workspaces: " + termtext.List(kept, 5),
		Advice: fmt.Sprintf("merge each by its address, `%s merge %s/%s`, delete its ref, `git --git-dir %s update-ref -d %s`, or give --force",
			r.Calls, run.ID, strings.TrimPrefix(kept[0], captureref.Copies(run.ID)), termtext.Line(r.Repo.RefsDir()), kept[0]),
	}, nil
}

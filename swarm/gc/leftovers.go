package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/worktree"
	checkouts "agentswarm/worktree/git/checkout"
)

// Moved is a workspace that went into the trash.
type Moved struct {
	Path  string `json:"path"`
	Run   string `json:"run,omitempty"`   // the run, if it ended long ago
	Trash string `json:"trash,omitempty"` // where it is now
}

// lost moves the workspaces of runs that are gone or cannot be read into the
// trash: nothing else will ever release them, and no known capture has their files.
func (c *collector) lost(ctx context.Context) error {
	runs, err := c.State.Lost()
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := c.lostOf(ctx, run); err != nil {
			return fmt.Errorf("workspaces of run %s, which cannot be read: %w", run, err)
		}
	}
	return nil
}

func (c *collector) lostOf(ctx context.Context, run string) error {
	trees, err := c.bareTrees(run)
	if err != nil {
		return err
	}
	strays, err := trees.Strays(nil)
	if err != nil {
		return err
	}
	for _, w := range strays {
		moved := Moved{Path: w.Dir}
		if !c.DryRun {
			out, err := trees.Release(ctx, w, nil)
			if err != nil {
				return err
			}
			moved.Trash = out.Trashed
		}
		c.report.Moved = append(c.report.Moved, moved)
	}
	if c.DryRun {
		return nil
	}
	// Entries that cannot be the name of a workspace are not ours, and stay.
	return removeTrees(c.State.Trees(run))
}

// bareTrees are the workspaces of a run, for removal only: filling or capturing
// a workspace needs the frozen configuration.
func (c *collector) bareTrees(run string) (*worktree.Trees, error) {
	return worktree.New(worktree.Config{
		Repo: c.Repo, Dir: c.State.Trees(run), Trash: c.State.Trash(),
		LockFile: c.State.LockFile("worktrees"), Bases: c.State.Bases(), Step: c.Step,
	})
}

// removeTrees removes the folder of the workspaces of a run, if it is empty.
func removeTrees(dir string) error {
	if at, err := os.Lstat(dir); err == nil && !at.IsDir() {
		return nil // a link leads out of the state
	}
	err := worktree.RemoveRun(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}

// unmadeAge is the minimum age of an unfinished folder of a run that is
// removed: a younger folder may be in the making.
const unmadeAge = 24 * time.Hour

// unmade removes the folders of runs whose making a crash cut off.
func (c *collector) unmade(context.Context) error {
	all, err := c.State.Unmade()
	if err != nil {
		return err
	}
	for _, u := range all {
		if c.Now.Sub(u.Time) < unmadeAge {
			continue
		}
		if !c.DryRun {
			if err := worktree.RemoveAll(u.Path); err != nil {
				return fmt.Errorf("remove what is left of run %s, which was never made: %w", u.Run, err)
			}
		}
		c.removed("unmade_run", u.Run, 0)
	}
	return nil
}

// probes removes the folders of processes that died while they tried a sandbox.
func (c *collector) probes(context.Context) error {
	entries, err := os.ReadDir(c.State.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for remains of trying the sandbox: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		// A new folder may be in use.
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), store.ProbePrefix) || c.Now.Sub(info.ModTime()) < probeAge {
			continue
		}
		if !c.DryRun {
			if err := worktree.RemoveAll(filepath.Join(c.State.Dir, e.Name())); err != nil {
				return fmt.Errorf("remove the remains of trying the sandbox: %w", err)
			}
		}
		c.removed("probe", e.Name(), 0)
	}
	return nil
}

// probeAge is how old the folder of a try must be, which takes milliseconds.
const probeAge = time.Hour

// transactions removes the records of changes of checkouts that have ended and
// whose run is gone: no journal will ever hold their outcome.
func (c *collector) transactions(context.Context) error {
	ended, unreadable, err := checkouts.Ended(c.State.Checkouts())
	for _, bad := range unreadable {
		c.kept(bad.Dir, bad.Err.Error()+"; "+bad.Hint())
	}
	if err != nil || len(ended) == 0 {
		return err
	}
	trashed, err := c.State.Trashed()
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, t := range trashed {
		kept[t.Run] = true
	}
	for _, id := range ended {
		run, _, _ := strings.Cut(id, ".")
		if _, err := c.State.Run(run); err == nil || kept[run] {
			continue
		}
		if !c.DryRun {
			if err := checkouts.Forget(c.State.Checkouts(), id); err != nil {
				return err
			}
		}
		c.removed("transaction", id, 0)
	}
	return nil
}

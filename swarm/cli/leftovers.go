package cli

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

	"agentswarm/worktree"
	checkouts "agentswarm/worktree/git/checkout"
)

// gcMoved is a workspace that went into the trash.
type gcMoved struct {
	Path  string `json:"path"`
	Run   string `json:"run,omitempty"`   // the run, where it is one that ended long ago
	Trash string `json:"trash,omitempty"` // where it is now
}

// lost moves the workspaces of runs that are gone or cannot be read into the
// trash: nothing else will ever release them, and what they hold is in no
// capture that anybody knows of.
func (g *collector) lost(ctx context.Context) error {
	runs, err := g.state.Lost()
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := g.lostOf(ctx, run); err != nil {
			return fmt.Errorf("workspaces of run %s, which cannot be read: %w", run, err)
		}
	}
	return nil
}

func (g *collector) lostOf(ctx context.Context, run string) error {
	trees, err := g.bareTrees(run)
	if err != nil {
		return err
	}
	strays, err := trees.Strays(nil)
	if err != nil {
		return err
	}
	for _, w := range strays {
		moved := gcMoved{Path: w.Dir}
		if !g.dry {
			out, err := trees.Release(ctx, w, nil)
			if err != nil {
				return err
			}
			moved.Trash = out.Trashed
		}
		g.out.Moved = append(g.out.Moved, moved)
	}
	if g.dry {
		return nil
	}
	// What no workspace could be called is not ours, and stays.
	return removeTrees(g.state.Trees(run))
}

// bareTrees are the workspaces of a run, to be removed only: to fill or capture
// one needs the frozen configuration.
func (g *collector) bareTrees(run string) (*worktree.Trees, error) {
	return worktree.New(worktree.Config{
		Repo: g.repo, Dir: g.state.Trees(run), Trash: g.state.Trash(),
		LockFile: g.state.LockFile("worktrees"), Bases: g.state.Bases(), Step: g.env.Step,
	})
}

// removeTrees removes the folder of the workspaces of a run, if it is empty.
func removeTrees(dir string) error {
	err := worktree.RemoveRun(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return nil
	}
	return err
}

// unmadeAge is how old the folder of a run must be whose making was cut off:
// one of today may be in the making.
const unmadeAge = 24 * time.Hour

// unmade removes what is left of runs that a crash kept from coming to be.
func (g *collector) unmade(context.Context) error {
	all, err := g.state.Unmade()
	if err != nil {
		return err
	}
	for _, u := range all {
		if g.now.Sub(u.Time) < unmadeAge {
			continue
		}
		if !g.dry {
			if err := worktree.RemoveAll(u.Path); err != nil {
				return fmt.Errorf("remove what is left of run %s, which was never made: %w", u.Run, err)
			}
		}
		g.removed("unmade_run", u.Run, 0)
	}
	return nil
}

// probes removes what a process that died left of trying the walls.
func (g *collector) probes(context.Context) error {
	entries, err := os.ReadDir(g.state.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for remains of trying the sandbox: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		// One of just now may be in use.
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), probePrefix) || g.now.Sub(info.ModTime()) < probeAge {
			continue
		}
		if !g.dry {
			if err := worktree.RemoveAll(filepath.Join(g.state.Dir, e.Name())); err != nil {
				return fmt.Errorf("remove the remains of trying the sandbox: %w", err)
			}
		}
		g.removed("probe", e.Name(), 0)
	}
	return nil
}

// probeAge is how old the folder of a try must be, which takes milliseconds.
const probeAge = time.Hour

// transactions removes the records of changes of checkouts that have ended and
// whose run is gone: no journal will ever hold their outcome.
func (g *collector) transactions(context.Context) error {
	ended, err := checkouts.Ended(g.state.Checkouts())
	if err != nil || len(ended) == 0 {
		return err
	}
	trashed, err := g.state.Trashed()
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, t := range trashed {
		kept[t.Run] = true
	}
	for _, id := range ended {
		run, _, _ := strings.Cut(id, ".")
		if _, err := g.state.Run(run); err == nil || kept[run] {
			continue
		}
		if !g.dry {
			if err := checkouts.Forget(g.state.Checkouts(), id); err != nil {
				return err
			}
		}
		g.removed("transaction", id, 0)
	}
	return nil
}

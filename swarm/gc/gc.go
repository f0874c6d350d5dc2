// Package gc collects the remains of runs: it recovers runs whose process died, moves
// lost workspaces into the trash, and removes old and unused files. It also removes runs.
//
// Each thing is removed by a record that swarm made of it. The package prints nothing; a
// [Report] names the things that were removed, moved and kept.
package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/config"
	"agentswarm/swarm/control"
	"agentswarm/swarm/copies"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/git"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/step"
	"agentswarm/worktree/trash"
)

// Request asks for a collection.
type Request struct {
	Remover                    // required
	Retention config.Retention // required
	Now       time.Time        // required
	// DryRun only reports, and removes nothing.
	DryRun bool
	// Sockets are folders where runs of this user, also of other states, make sockets.
	Sockets []string
	// Space measures the disk of a folder. Required.
	Space func(dir string) (diskwatch.Space, error)
	// Copies ends copies that a crash left. Required.
	Copies *copies.Maker
	// Self is the path of the running binary, whose kept copy stays. Required.
	Self string
	// Step is called between the steps of a change of a workspace. Nil: it is not called.
	Step step.Hook
}

// Report is the outcome of a collection.
type Report struct {
	Recovered []Recovered
	Removed   []Removed
	Moved     []Moved // into the trash
	Kept      []Kept
	Bytes     int64 // of all that is removed
}

// Recovered is a run whose process died and that was put in order, or would be in a dry run.
type Recovered struct {
	Run        string `json:"run"`
	Workspaces int    `json:"workspaces"` // that were not captured before
}

// Removed is a thing that was removed, or would be in a dry run.
type Removed struct {
	Kind  string `json:"kind"` // of docs/json.md, such as workspace, run or ref
	Name  string `json:"name"`
	Bytes int64  `json:"bytes,omitempty"`
}

// Kept is a thing that stays, with the reason.
type Kept struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// collector carries out a request.
type collector struct {
	Request
	report *Report
	// modules are the user's submodules, once listed is set; unlisted more could not
	// be read.
	modules  []*git.Repo
	unlisted int
	listed   bool
	// gone are the runs whose refs were deleted.
	gone []string
}

// Collect carries out a request. A step that fails, as on a full disk, does not keep the
// others from making room: the report is there with an error, too.
func Collect(ctx context.Context, r Request) (*Report, error) {
	c := &collector{Request: r, report: &Report{Removed: []Removed{}, Moved: []Moved{}, Kept: []Kept{}}}
	var failed error
	for _, step := range []func(context.Context) error{
		c.verifications, c.runs, c.copies, c.old, c.lost, c.workspaces, c.moduleRefs, c.trashedRuns, c.packs, c.unmade, c.probes, c.transactions, c.scratches, c.sockets, c.marks, c.pool, c.bases, c.binaries,
	} {
		failed = errors.Join(failed, step(ctx))
		if ctx.Err() != nil {
			return c.report, failed
		}
	}
	return c.report, failed
}

func (c *collector) kept(path, reason string) {
	c.report.Kept = append(c.report.Kept, Kept{Path: path, Reason: reason})
}

func (c *collector) removed(kind, name string, bytes int64) {
	c.report.Removed = append(c.report.Removed, Removed{Kind: kind, Name: name, Bytes: bytes})
	c.report.Bytes += bytes
}

// runs puts runs in order whose owner died, and names workspaces that are
// kept because they could not be captured.
func (c *collector) runs(ctx context.Context) error {
	entries, err := c.State.Runs()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Damage != nil {
			c.kept(e.Run.Dir, e.Damage.Error())
			continue
		}
		v, err := e.Run.View()
		died, left := err == nil && v.Died, 0
		if died {
			left = v.Uncaptured()
		}
		if err == nil && !c.DryRun {
			v, err = c.Runs.Recover(ctx, e.Run)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil { // the others do not wait for it
			c.kept(e.Run.Dir, err.Error())
			continue
		}
		if died && (c.DryRun || !v.Died) {
			c.report.Recovered = append(c.report.Recovered, Recovered{Run: e.Run.ID, Workspaces: left})
		}
		if !c.DryRun && v.Status != store.RunRunning && !e.Run.Live() && len(v.Agents) == 0 {
			// It was interrupted before its first agent.
			if err := removeTrees(c.State.Trees(e.Run.ID)); err != nil {
				return err
			}
		}
		for _, a := range v.Agents {
			for _, l := range a.Leases {
				if a.Result() != nil && fspath.Exists(l.Dir) {
					c.kept(l.Dir, fmt.Sprintf("%s/%s could not be captured", e.Run.ID, a.ID))
				}
			}
		}
	}
	return nil
}

// workspaces sweeps the trash of workspaces, and makes room if its disk is low.
func (c *collector) workspaces(ctx context.Context) error {
	disk, err := c.Space(c.State.Trash())
	if err != nil {
		return err
	}
	bytes, inodes := disk.Short()
	swept, kept, err := trash.Sweep(ctx, trash.SweepRequest{
		Trash: c.State.Trash(), Now: c.Now, Age: c.Retention.TrashAge, Size: c.Retention.TrashSize, DryRun: c.DryRun,
		Lacks: trash.Room{Bytes: bytes, Files: inodes},
	})
	for _, s := range swept {
		c.removed("workspace", s.Run+"/"+s.Name, s.Size)
	}
	for _, s := range kept {
		c.kept(s.Path, "it has the only copy of "+strings.Join(s.Large, ", "))
	}
	return err
}

// sockets removes those of runs that died and are not resumed, such as of states that
// are gone. The runs of this state have been put in order. They hold nothing, and are
// not reported.
func (c *collector) sockets(context.Context) error {
	if c.DryRun {
		return nil
	}
	return control.Sweep(c.Sockets, c.Now)
}

// scratches removes the HOME and TMPDIR of agents that a crash left.
func (c *collector) scratches(context.Context) error {
	left, err := c.State.LeftScratches()
	if err != nil {
		return err
	}
	for _, dir := range left {
		if !c.DryRun {
			if err := worktree.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove a scratch folder: %w", err)
			}
		}
		c.removed("scratch", filepath.Base(dir), 0)
	}
	return nil
}

// trashedRuns removes runs that have been in the trash long enough, and the
// refs that held their patches.
func (c *collector) trashedRuns(ctx context.Context) error {
	trashed, err := c.State.Trashed()
	if err != nil {
		return err
	}
	for _, t := range trashed {
		if c.Now.Sub(t.Time) <= c.Retention.TrashAge {
			if t.Damage != nil {
				c.kept(t.Path, t.Damage.Error())
			}
			continue
		}
		if _, err := c.State.Run(t.Run); err == nil {
			continue // it was put back
		}
		if err := c.dropModuleRefs(ctx, t); err != nil {
			return err
		}
		if err := c.dropRefs(ctx, t.Run); err != nil {
			return err
		}
		c.gone = append(c.gone, t.Run)
		if !c.DryRun {
			if err := worktree.RemoveAll(t.Path); err != nil {
				return fmt.Errorf("remove run %s: %w", t.Run, err)
			}
		}
		c.removed("run", t.Run, 0)
	}
	return nil
}

// dropRefs deletes the refs of a run, each only if it is still where it was.
func (c *collector) dropRefs(ctx context.Context, run string) error {
	refs, err := c.Repo.RefsUnder(ctx, captureref.Run(run))
	if err != nil {
		return err
	}
	var updates []git.RefUpdate
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		updates = append(updates, git.RefUpdate{Ref: name, Old: refs[name]})
		c.removed("ref", name, 0)
	}
	if len(updates) == 0 || c.DryRun {
		return nil
	}
	return c.Repo.UpdateRefs(ctx, "swarm gc", updates...)
}

// packs lets git have the packs that held the work of runs which are gone.
func (c *collector) packs(ctx context.Context) error {
	if c.DryRun {
		return nil
	}
	return c.Repo.ReleasePacks(ctx, git.ReleaseRequest{Runs: c.gone, Now: c.Now})
}

// marks removes .keep files of packs that a crash left in transit. The packs
// stay: git's own gc decides about them.
func (c *collector) marks(context.Context) error {
	dir := filepath.Join(c.Repo.CommonDir, "objects", "pack")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for packs in transit: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if filepath.Ext(path) != ".keep" {
			continue
		}
		info, err := e.Info()
		// A file of today may belong to a running capture.
		if err != nil || c.Now.Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil || !git.InTransit(text) {
			continue
		}
		if !c.DryRun {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the mark of a pack: %w", err)
			}
		}
		c.removed("pack_mark", e.Name(), 0)
	}
	return nil
}

// bases removes checkouts that no workspace stands on, once they take more
// than they may, and checkouts whose making a crash cut off.
func (c *collector) bases(ctx context.Context) error {
	dir := c.State.Bases()
	if !fspath.Exists(dir) {
		return nil
	}
	limit := c.Retention.BaseSize
	if limit == 0 {
		var err error
		if limit, err = bases.Limit(dir); err != nil {
			return err
		}
	}
	swept, err := bases.Sweep(ctx, bases.SweepRequest{Bases: dir, Size: limit, DryRun: c.DryRun})
	for _, s := range swept {
		c.removed("base", filepath.Base(s.Path), s.Size)
	}
	return err
}

// pool removes the files that wait for the next workspaces.
func (c *collector) pool(ctx context.Context) error {
	swept, err := pool.Sweep(ctx, pool.SweepRequest{Pool: c.State.Pool(), DryRun: c.DryRun})
	for _, s := range swept {
		c.removed("pool", filepath.Base(s.Path), s.Size)
	}
	return err
}

// binaryAge is how long a kept copy of swarm must have been out of use.
const binaryAge = 7 * 24 * time.Hour

// binaries removes kept copies of swarm that have not been used for a week,
// but for the running one, unless a run is live in any repository.
func (c *collector) binaries(context.Context) error {
	if live, err := c.State.AnyLive(); err != nil || live {
		return err
	}
	build, err := store.Build(c.Self)
	if err != nil {
		return err
	}
	self := filepath.Dir(c.State.Bin(build))
	for _, root := range []string{filepath.Dir(self), c.State.OwnBins()} {
		if err := c.oldBinaries(root, self); err != nil {
			return err
		}
	}
	return nil
}

// oldBinaries removes the copies below a folder, but for the one to keep.
func (c *collector) oldBinaries(root, keep string) error {
	builds, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for old binaries: %w", err)
	}
	for _, b := range builds {
		dir := filepath.Join(root, b.Name())
		info, err := b.Info()
		if err != nil || !b.IsDir() || dir == keep || c.Now.Sub(info.ModTime()) < binaryAge {
			continue
		}
		if !c.DryRun {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove an old binary: %w", err)
			}
		}
		c.removed("binary", b.Name(), 0)
	}
	return nil
}

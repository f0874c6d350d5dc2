package cli

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

	"github.com/urfave/cli/v2"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/captureref"
	"agentswarm/swarm/config"
	"agentswarm/swarm/diskwatch"
	"agentswarm/swarm/store"
	"agentswarm/worktree"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/git"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/trash"
)

func newGcCommand(env Env) *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Usage: "recover runs whose process died, and empty the trash",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "print what would be removed; remove nothing"},
			jsonFlag(),
		},
		Description: `Captures what runs left whose process died, and moves workspaces of runs that
cannot be read into the trash. Then it removes from the trash what is older than
7 days or more than 5 GiB, the refs of runs that went with it, checkouts that
workspaces shared and that take too much, and binaries no run needs. On a disk
that is nearly full it removes more of the trash, but no only copy. Only what
swarm made is removed, each by its record. The table [gc] of your own
configuration says other ages and sizes, and may have old runs moved into the
trash as swarm rm does.

Examples:
  swarm gc -n
  swarm gc`,
		Action: func(c *cli.Context) error { return gcAction(c, env) },
	}
}

// gcObject is swarm.gc/1, described in docs/json.md.
type gcObject struct {
	Schema  string      `json:"schema"`
	DryRun  bool        `json:"dry_run,omitempty"`
	Removed []gcRemoved `json:"removed"`
	Moved   []gcMoved   `json:"moved"` // into the trash
	Kept    []gcKept    `json:"kept"`
	Bytes   int64       `json:"bytes"`
}

type gcRemoved struct {
	Kind  string `json:"kind"` // workspace, run, unmade_run, probe, ref, pack_mark, base or binary
	Name  string `json:"name"`
	Bytes int64  `json:"bytes,omitempty"`
}

type gcKept struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// collector empties what is no longer needed.
type collector struct {
	*place
	dry    bool
	now    time.Time
	retain config.Retention
	space  func(dir string) (diskwatch.Space, error) // required
	out    gcObject
	// modules are the user's submodules, once listed is set.
	modules []*git.Repo
	listed  bool
	// gone are the runs whose refs were deleted.
	gone []string
}

func gcAction(c *cli.Context, env Env) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	p, err := openPlace(c, env)
	if err != nil {
		return err
	}
	keep, err := p.retention()
	if err != nil {
		return err
	}
	g := &collector{place: p, dry: c.Bool("dry-run"), now: time.Now(), retain: keep, space: diskwatch.SpaceOf, out: gcObject{
		Schema: "swarm.gc/1", DryRun: c.Bool("dry-run"), Removed: []gcRemoved{}, Moved: []gcMoved{}, Kept: []gcKept{},
	}}
	var failed error
	for _, step := range []func(context.Context) error{
		g.verifications, g.runs, g.copies, g.old, g.lost, g.workspaces, g.trashedRuns, g.packs, g.unmade, g.probes, g.transactions, g.scratches, g.marks, g.pool, g.bases, g.binaries,
	} {
		// A step that fails, as on a full disk, must not keep the others from making
		// room.
		failed = errors.Join(failed, step(c.Context))
		if c.Context.Err() != nil {
			return failed
		}
	}
	if c.Bool("json") {
		return errors.Join(failed, printJSON(env.Stdout, g.out))
	}
	return errors.Join(failed, g.print())
}

func (g *collector) print() error {
	verb, moved := "removed", "moved"
	if g.dry {
		verb, moved = "would remove", "would move"
	}
	for _, m := range g.out.Moved {
		why := "its run is gone or cannot be read"
		if m.Run != "" {
			why = "it ended more than " + config.Age(g.retain.RunAge) + " ago"
		}
		if _, err := fmt.Fprintf(g.env.Stdout, "%s %s into the trash: %s\n", moved, Printable(m.Path), why); err != nil {
			return err
		}
	}
	for _, r := range g.out.Removed {
		size := ""
		if r.Bytes > 0 {
			size = ", " + Bytes(r.Bytes)
		}
		if _, err := fmt.Fprintf(g.env.Stdout, "%s %s %s%s\n", verb, r.Kind, Printable(r.Name), size); err != nil {
			return err
		}
	}
	for _, k := range g.out.Kept {
		if _, err := fmt.Fprintf(g.env.Stdout, "kept %s: %s\n", Printable(k.Path), Printable(k.Reason)); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s %s, %s", verb, Count(len(g.out.Removed), "thing", "things"), Bytes(g.out.Bytes))
	if len(g.out.Removed) == 0 {
		text = "nothing to remove"
	}
	_, err := fmt.Fprintln(g.env.Stdout, text)
	return err
}

func (g *collector) removed(kind, name string, bytes int64) {
	g.out.Removed = append(g.out.Removed, gcRemoved{Kind: kind, Name: name, Bytes: bytes})
	g.out.Bytes += bytes
}

// runs puts runs in order whose owner died, and names workspaces that are
// kept because they could not be captured.
func (g *collector) runs(ctx context.Context) error {
	entries, err := g.state.Runs()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Damage != nil {
			g.out.Kept = append(g.out.Kept, gcKept{Path: e.Run.Dir, Reason: e.Damage.Error()})
			continue
		}
		v, err := e.Run.View()
		if err == nil && !g.dry {
			v, err = g.retrieve(ctx, e.Run)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil { // the others do not wait for it
			g.out.Kept = append(g.out.Kept, gcKept{Path: e.Run.Dir, Reason: err.Error()})
			continue
		}
		if !g.dry && v.Status != store.RunRunning && !e.Run.Live() && len(v.Agents) == 0 {
			// It was interrupted before its first agent.
			if err := removeTrees(g.state.Trees(e.Run.ID)); err != nil {
				return err
			}
		}
		for _, a := range v.Agents {
			for _, l := range a.Leases {
				if a.Result() != nil && fspath.Exists(l.Dir) {
					g.out.Kept = append(g.out.Kept, gcKept{
						Path: l.Dir, Reason: fmt.Sprintf("%s/%s could not be captured", e.Run.ID, a.ID),
					})
				}
			}
		}
	}
	return nil
}

// workspaces sweeps the trash of workspaces, and makes room if its disk is low.
func (g *collector) workspaces(ctx context.Context) error {
	disk, err := g.space(g.state.Trash())
	if err != nil {
		return err
	}
	bytes, inodes := disk.Short()
	swept, kept, err := trash.Sweep(ctx, trash.SweepRequest{
		Trash: g.state.Trash(), Now: g.now, Age: g.retain.TrashAge, Size: g.retain.TrashSize, DryRun: g.dry,
		Lacks: trash.Room{Bytes: bytes, Files: inodes},
	})
	for _, s := range swept {
		g.removed("workspace", s.Run+"/"+s.Name, s.Size)
	}
	for _, s := range kept {
		g.out.Kept = append(g.out.Kept, gcKept{
			Path: s.Path, Reason: "it has the only copy of " + strings.Join(s.Large, ", "),
		})
	}
	return err
}

// scratches removes the HOME and TMPDIR of agents that a crash left.
func (g *collector) scratches(context.Context) error {
	left, err := g.state.LeftScratches()
	if err != nil {
		return err
	}
	for _, dir := range left {
		if !g.dry {
			if err := worktree.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove a scratch folder: %w", err)
			}
		}
		g.removed("scratch", filepath.Base(dir), 0)
	}
	return nil
}

// trashedRuns removes runs that have been in the trash long enough, and the
// refs that held their patches.
func (g *collector) trashedRuns(ctx context.Context) error {
	trashed, err := g.state.Trashed()
	if err != nil {
		return err
	}
	for _, t := range trashed {
		if g.now.Sub(t.Time) <= g.retain.TrashAge {
			if t.Damage != nil {
				g.out.Kept = append(g.out.Kept, gcKept{Path: t.Path, Reason: t.Damage.Error()})
			}
			continue
		}
		if _, err := g.state.Run(t.Run); err == nil {
			continue // somebody put it back
		}
		if err := g.dropModuleRefs(ctx, t); err != nil {
			return err
		}
		if err := g.dropRefs(ctx, t.Run); err != nil {
			return err
		}
		g.gone = append(g.gone, t.Run)
		if !g.dry {
			if err := worktree.RemoveAll(t.Path); err != nil {
				return fmt.Errorf("remove run %s: %w", t.Run, err)
			}
		}
		g.removed("run", t.Run, 0)
	}
	return nil
}

// dropRefs deletes the refs of a run, each only if it is still where it was.
func (g *collector) dropRefs(ctx context.Context, run string) error {
	refs, err := g.repo.RefsUnder(ctx, captureref.Run(run))
	if err != nil {
		return err
	}
	var updates []git.RefUpdate
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		updates = append(updates, git.RefUpdate{Ref: name, Old: refs[name]})
		g.removed("ref", name, 0)
	}
	if len(updates) == 0 || g.dry {
		return nil
	}
	return g.repo.UpdateRefs(ctx, "swarm gc", updates...)
}

// packs lets git have the packs that held the work of runs which are gone.
func (g *collector) packs(ctx context.Context) error {
	if g.dry {
		return nil
	}
	return g.repo.ReleasePacks(ctx, git.ReleaseRequest{Runs: g.gone, Now: g.now})
}

// marks removes .keep files of packs that a crash left in transit. The packs
// stay: git's own gc decides about them.
func (g *collector) marks(context.Context) error {
	dir := filepath.Join(g.repo.CommonDir, "objects", "pack")
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
		// One of today may be of a capture that is going on.
		if err != nil || g.now.Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil || !git.InTransit(text) {
			continue
		}
		if !g.dry {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the mark of a pack: %w", err)
			}
		}
		g.removed("pack_mark", e.Name(), 0)
	}
	return nil
}

// bases removes checkouts that no workspace stands on, once they take more
// than they may, and what a crash left of the making of one.
func (g *collector) bases(ctx context.Context) error {
	dir := g.state.Bases()
	if !fspath.Exists(dir) {
		return nil
	}
	limit := g.retain.BaseSize
	if limit == 0 {
		var err error
		if limit, err = bases.Limit(dir); err != nil {
			return err
		}
	}
	swept, err := bases.Sweep(ctx, bases.SweepRequest{Bases: dir, Size: limit, DryRun: g.dry})
	for _, s := range swept {
		g.removed("base", filepath.Base(s.Path), s.Size)
	}
	return err
}

// pool removes the files that wait for the next workspaces.
func (g *collector) pool(ctx context.Context) error {
	swept, err := pool.Sweep(ctx, pool.SweepRequest{Pool: g.state.Pool(), DryRun: g.dry})
	for _, s := range swept {
		g.removed("pool", filepath.Base(s.Path), s.Size)
	}
	return err
}

// binaryAge is how long a kept copy of swarm must have been out of use.
const binaryAge = 7 * 24 * time.Hour

// binaries removes kept copies of swarm that have not been used for a week,
// but for the running one, unless a run is live in any repository.
func (g *collector) binaries(context.Context) error {
	if live, err := g.state.AnyLive(); err != nil || live {
		return err
	}
	build, err := store.Build(g.env.Self)
	if err != nil {
		return err
	}
	self := filepath.Dir(g.state.Bin(build))
	for _, root := range []string{filepath.Dir(self), g.state.OwnBins()} {
		if err := g.oldBinaries(root, self); err != nil {
			return err
		}
	}
	return nil
}

// oldBinaries removes the copies below a folder, but for the one to keep.
func (g *collector) oldBinaries(root, keep string) error {
	builds, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for old binaries: %w", err)
	}
	for _, b := range builds {
		dir := filepath.Join(root, b.Name())
		info, err := b.Info()
		if err != nil || dir == keep || g.now.Sub(info.ModTime()) < binaryAge {
			continue
		}
		if !g.dry {
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("remove an old binary: %w", err)
			}
		}
		g.removed("binary", b.Name(), 0)
	}
	return nil
}

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/overlay"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// Restore puts the work of an earlier attempt into a workspace that was just
// leased. Its files become those of commit, the capture of that attempt on the
// same base. HEAD and the index that captures compare with stay at the base: the
// next capture holds the old work and the new.
//
// Git sees the work as staged. An index without it would show new files as
// unknown, hide those that an ignore rule of the earlier agent names, and could
// not show a submodule at another commit at all. An agent that reverts its own
// changes with `git checkout .` keeps the old work.
//
// The filters, attributes and filter programs of the base write the files;
// captures use the same. Submodules that the commit moves are filled as those of
// a lease are. After an error of Restore the caller calls [Trees.Drop].
func (t *Trees) Restore(ctx context.Context, w workspace.Workspace, commit git.Hash) error {
	if err := t.own(w); err != nil {
		return fmt.Errorf("restore %s: %w", w.Name, err)
	}
	if err := t.fills.Enter(ctx); err != nil {
		return fmt.Errorf("restore %s: %w", w.Name, err)
	}
	err := t.restore(ctx, w, commit)
	t.fills.Leave(false) // it says nothing of how fast a base is filled
	if err != nil {
		return fmt.Errorf("restore %s: %w", w.Name, err)
	}
	return t.step("restored")
}

// restoring is the state of a restore.
type restoring struct {
	*staging
	root    *os.Root // the workspace
	changes []git.Change
}

func (t *Trees) restore(ctx context.Context, w workspace.Workspace, commit git.Hash) (err error) {
	scratch := w.Index + ".restore"
	if w.Private() {
		scratch = filepath.Join(w.Dir, "restore") // the index may be that of all
	}
	if err := disk.RemoveAll(scratch); err != nil {
		return err
	}
	q, err := t.Frozen.Quarantine(scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Discard()) }()
	c := &capturing{
		Trees: t, CaptureRequest: CaptureRequest{Workspace: w}, quarantine: q, found: &survey.Survey{},
	}
	if c.index, err = t.Repo.ReadIndex(w.Index); err != nil {
		return err
	}
	if err := c.findTools(ctx); err != nil {
		return err
	}
	r := &restoring{staging: &staging{
		capturing: c, private: filepath.Join(q.Dir, "restore.index"),
		scratch: filepath.Join(q.Dir, "scratch"),
	}}
	defer func() { err = errors.Join(err, r.endApart()) }()
	if r.changes, err = q.Changes(ctx, w.Base, commit); err != nil {
		return err
	}
	if r.root, err = os.OpenRoot(w.Files()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.root.Close()) }()
	clear := r.clear
	if w.Kind() == workspace.Overlay {
		clear = r.clearLayers
	}
	fill := func(ctx context.Context) error { return r.fillModules(ctx, commit) }
	steps := []func(context.Context) error{
		r.clearModules, clear, r.write, r.writeRest, r.writeAssigned, r.stageWork, r.remember, fill,
	}
	for _, do := range steps {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the files that the commit deletes or replaces, and the folders
// that are empty then.
func (r *restoring) clear(context.Context) error {
	for _, c := range r.changes {
		if c.OldMode == baseline.Absent {
			continue
		}
		// A file outside of a sparse checkout does not exist.
		if err := r.root.Remove(c.Path); err != nil && !disk.Missing(err) {
			return err
		}
		for dir := disk.Parent(c.Path); dir != ""; dir = disk.Parent(dir) {
			if r.root.Remove(dir) != nil {
				break // it holds more
			}
		}
	}
	return nil
}

// write writes files, from an index in which the attributes are the base's,
// and from a folder in which the programs of filters are.
func (r *restoring) write(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	var paths strings.Builder
	for _, c := range r.changes {
		switch {
		case baseline.Ruled(c.Path), c.NewMode == baseline.LinkMode:
		case c.NewMode == baseline.Absent:
			r.forget(c.Path)
		default:
			r.record(c.NewMode, c.New, c.Path)
			paths.WriteString(c.Path + "\x00")
		}
	}
	if err := r.update(ctx, &r.records, "--index-info"); err != nil {
		return err
	}
	if err := r.setApart(ctx); err != nil || paths.Len() == 0 {
		return err
	}
	cmd := git.Cmd{
		Args: []string{"checkout-index", "-z", "-f", "-q", "--ignore-skip-worktree-bits",
			"--prefix=" + r.Workspace.Files() + "/", "--stdin"},
		Stdin: strings.NewReader(paths.String()),
	}
	if r.apart == nil {
		_, err := r.run(ctx, cmd)
		return err
	}
	cmd.Dir, cmd.Env = r.scratch, []string{"GIT_WORK_TREE=" + r.scratch}
	_, err := r.apart.Run(ctx, cmd)
	return err
}

// setApart is that of a staging for the files that are written: another agent
// made them, and filters read them, too.
func (r *restoring) setApart(ctx context.Context) error {
	var paths []string
	for _, c := range r.changes {
		if c.NewMode == baseline.Absent || c.NewMode == baseline.LinkMode {
			continue
		}
		paths = append(paths, c.Path)
		if baseline.Ruled(c.Path) {
			if _, err := r.rules(ctx); err != nil {
				return err
			}
		}
	}
	if err := r.staging.setApart(ctx, paths, r.Workspace.Files()); err != nil {
		return err
	}
	return r.lendLFS()
}

// writeRest writes the files that decide how files are written, by the rules of
// the base, and makes the folders of submodules.
func (r *restoring) writeRest(ctx context.Context) error {
	for _, c := range r.changes {
		var err error
		switch {
		case c.NewMode == baseline.Absent:
		case c.NewMode == baseline.LinkMode:
			err = r.folder(c.Path)
		case baseline.Ruled(c.Path):
			err = r.writeRule(ctx, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeRule writes a single rule file.
func (r *restoring) writeRule(ctx context.Context, c git.Change) error {
	dir, err := r.rules(ctx)
	if err != nil {
		return err
	}
	if err := r.folder(disk.Parent(c.Path)); err != nil {
		return err
	}
	if err := r.root.RemoveAll(c.Path); err != nil {
		return err
	}
	cmd := git.Cmd{
		Dir: dir, Env: []string{"GIT_WORK_TREE=" + dir},
		Args: []string{"cat-file", "blob", string(c.New)},
	}
	if c.NewMode == "120000" {
		target, err := r.quarantine.Run(ctx, cmd)
		if err != nil {
			return err
		}
		return r.root.Symlink(string(target), c.Path)
	}
	return r.writeFiltered(ctx, c, dir)
}

// folder makes a folder and those above it. It removes an included file of the
// user in its place, as the commit has a folder there.
func (r *restoring) folder(dir string) error { return disk.MakeFolder(r.root, dir) }

// stageWork puts the change into the index of the workspace. The times of the
// files are left to the agent's git: telling them takes the filters of a
// folder in which the earlier agent has written.
func (r *restoring) stageWork(ctx context.Context) error {
	skipped := r.skipped()
	var gone strings.Builder
	for _, c := range r.changes {
		if c.NewMode != baseline.Absent {
			continue
		}
		r.forget(c.Path)
		if skipped[c.Path] {
			gone.WriteString(c.Path + "\x00")
		}
	}
	for _, c := range r.changes {
		if c.NewMode != baseline.Absent {
			r.record(c.NewMode, c.New, c.Path)
		}
	}
	run := func(index, in string, args ...string) error {
		if in == "" {
			return nil
		}
		_, err := r.quarantine.Run(ctx, git.Cmd{
			Dir: r.scratch, Env: []string{"GIT_WORK_TREE=" + r.scratch, "GIT_INDEX_FILE=" + index},
			Args: append([]string{"update-index", "-z"}, args...), Stdin: strings.NewReader(in),
		})
		return err
	}
	records := r.records.String()
	r.records.Reset()
	if records != "" {
		if err := r.ownIndex(); err != nil {
			return err
		}
	}
	if err := run(filepath.Join(r.Workspace.Admin, "index"), records,
		"--add", "--replace", "--index-info"); err != nil {
		return err
	}
	if r.Workspace.Kind() == workspace.Overlay {
		return nil // the index is that of all: the record of placed files has the change
	}
	// Git keeps entries outside of a sparse checkout that have no file.
	// These are gone, and a capture must see it.
	return run(r.Workspace.Index, gone.String(), "--no-skip-worktree", "--stdin")
}

// ownIndex gives the workspace an index that can be changed.
func (r *restoring) ownIndex() error {
	if r.Workspace.Shell == "" {
		return nil // it has an index already
	}
	if err := os.Mkdir(r.Workspace.Admin, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	err := git.CloneFile(filepath.Join(r.Workspace.Shell, ".git", "index"), filepath.Join(r.Workspace.Admin, "index"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// skipped are the files of the base outside of a sparse checkout.
func (r *restoring) skipped() map[string]bool {
	all := map[string]bool{}
	for _, e := range r.index {
		if e.SkipWorktree {
			all[e.Path] = true
		}
	}
	return all
}

// remember records the written files. A capture so takes a file that the agent
// did not change as it was in the commit, whatever filters make of it.
func (r *restoring) remember(ctx context.Context) error {
	if len(r.changes) == 0 {
		return nil
	}
	all := baseline.Placed{}
	skipped := r.skipped()
	for _, c := range r.changes {
		if c.NewMode == baseline.Absent {
			if skipped[c.Path] && r.Workspace.Kind() == workspace.Overlay {
				all[c.Path] = baseline.GoneEntry(c)
			}
			continue
		}
		at, err := r.root.Lstat(c.Path)
		if err != nil {
			return err
		}
		all.Add(c.Path, at, c.New)
		mode, err := strconv.ParseUint(c.NewMode, 8, 32)
		if err != nil {
			return err
		}
		e := all[c.Path]
		e.Mode = uint32(mode)
		all[c.Path] = e
	}
	return baseline.AddPlaced(ctx, r.Workspace.PlacedFile(), all)
}

// clearLayers hides the files that the commit deletes, and the folders that are
// empty then. Files that it replaces hide the old ones by themselves.
func (r *restoring) clearLayers(context.Context) error {
	h := &overlay.Hider{Root: r.root, Dir: r.Workspace.Files(), Below: r.Workspace.Below()}
	return h.Apply(r.changes)
}

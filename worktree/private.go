package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/fill"
	"agentswarm/worktree/git"
	"agentswarm/worktree/trash"
	"agentswarm/worktree/workspace"
)

// leasePrivate fills the folder of a workspace that has a git dir of its own.
// The repository is not touched.
func (t *Trees) leasePrivate(ctx context.Context, w *workspace.Workspace) (err error) {
	if err := t.mountPoint(w); err != nil {
		return err
	}
	b, done, err := t.bases.Get(ctx, w.Base)
	if err != nil {
		return err
	}
	defer done()
	template, err := t.templateOf(ctx)
	if err != nil {
		return err
	}
	w.Lower, w.Admin = b.Tree(), filepath.Join(w.Dir, workspace.GitName)
	w.Under = b.Lower()
	if w.Kind() == workspace.Overlay {
		w.Index = b.Index()
		if w.Along, err = t.along(ctx); err != nil {
			return err
		}
		// A base that is a change of another base gets no shared git dir. Each
		// workspace may have such a base, and each git dir would stay until the
		// run ends.
		if w.Under == "" {
			if w.Shell, err = t.shell(ctx, template, b); err != nil {
				return err
			}
			w.Admin = filepath.Join(w.Files(), ".git")
		}
	}
	if err := errors.Join(b.Enlist(filepath.Base(t.Dir), *w), writeRecord(w)); err != nil {
		return err
	}
	if err := t.step("recorded"); err != nil {
		return err
	}
	if w.Kind() == workspace.Overlay {
		err = fillLayers(w)
	} else {
		err = t.fillClone(ctx, w, &fill.Clone{From: w.Below(), Index: b.Index(), Copies: w.Kind() == workspace.Copied})
	}
	if err == nil && w.Shell == "" {
		link, _ := t.Objects()
		err = template.Private(git.PrivateRequest{Dir: w.Admin, Base: w.Base, Index: w.Index, Objects: link})
	}
	if err != nil {
		return err
	}
	return t.step("filled")
}

// fillLayers makes the folders of an overlay.
func fillLayers(w *workspace.Workspace) error {
	return errors.Join(os.Mkdir(w.Files(), 0o700), os.Mkdir(filepath.Join(w.Dir, workspace.WorkName), 0o700))
}

// mountPoint makes the mount point of a workspace if it is a folder of ours, as
// for a repository without a checkout.
func (t *Trees) mountPoint(w *workspace.Workspace) error {
	switch {
	case w.At == "" && w.Kind() == workspace.Overlay:
		return errors.New("an overlay has no path to be mounted at")
	case w.At != "" && disk.Inside(filepath.Dir(t.Bases), w.At):
		return os.MkdirAll(w.At, 0o700)
	default:
		return nil
	}
}

// templateOf makes the common part of the git dirs of all workspaces of this
// process, once.
func (t *Trees) templateOf(ctx context.Context) (*git.Template, error) {
	known := func() *git.Template {
		t.commonMu.Lock()
		defer t.commonMu.Unlock()
		return t.template
	}
	if made := known(); made != nil {
		return made, nil
	}
	if err := t.making.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for what git dirs have in common: %w", context.Cause(ctx))
	}
	defer t.making.Release(1)
	if made := known(); made != nil {
		return made, nil
	}
	dir := filepath.Join(t.Dir, templateName)
	if err := disk.RemoveAll(dir); err != nil {
		return nil, err
	}
	made, err := t.Repo.Template(ctx, git.TemplateRequest{Dir: dir, Frozen: t.Frozen})
	if err != nil {
		return nil, err
	}
	t.commonMu.Lock()
	defer t.commonMu.Unlock()
	t.template = made
	return made, nil
}

// templateName is the folder of the common part of the git dirs, in the folder
// of a run. No workspace can have such a name.
const templateName = ".template"

// spaceName is the file with the record of a workspace that has a git dir of
// its own. After a crash swarm finds the workspace by it.
const spaceName = "workspace.json"

func writeRecord(w *workspace.Workspace) error {
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.Dir, spaceName), append(text, '\n'), 0o600)
}

// recorded reads the record of the workspace that was made in a folder. It
// accepts a record only if it leads to no other folder.
func (t *Trees) recorded(name string) (w workspace.Workspace, ok bool) {
	dir := filepath.Join(t.Dir, name)
	text, err := statefile.Read(dir, filepath.Join(dir, spaceName))
	if err != nil || json.Unmarshal(text, &w) != nil {
		return w, false
	}
	if w.Name != name || w.Dir != dir || !w.Private() {
		return w, false
	}
	return w, t.ownPrivate(w) == nil
}

// unmakePrivate removes the files of a failed lease.
func (t *Trees) unmakePrivate(w *workspace.Workspace) error {
	err := errors.Join(disk.RemoveAll(w.Dir), bases.Leave(filepath.Base(t.Dir), *w))
	if w.Kind() == workspace.Overlay {
		return err
	}
	if rm := os.Remove(w.Index); !disk.Missing(rm) {
		err = errors.Join(err, rm)
	}
	return err
}

// leave detaches a workspace that went into the trash from its base, and
// removes useless parts of the entry. No entry: the workspace had vanished.
func (t *Trees) leave(w workspace.Workspace, entry string) error {
	if entry != "" {
		// An intention that was journaled before it was made names no base.
		text, err := os.ReadFile(filepath.Join(entry, "tree", spaceName))
		var made workspace.Workspace
		if err == nil && json.Unmarshal(text, &made) == nil && t.ownPrivate(made) == nil && made.Name == w.Name {
			w.Lower, w.Shell = made.Lower, made.Shell
		}
		if record, err := trash.Read(entry); err == nil && !record.Whole && w.Shell != "" {
			if err := wholeGit(filepath.Join(entry, "tree"), filepath.Join(w.Shell, ".git")); err != nil {
				return err
			}
		}
		if err := disk.RemoveAll(filepath.Join(entry, "tree", workspace.WorkName)); err != nil {
			return err
		}
	}
	return bases.Leave(filepath.Base(t.Dir), w)
}

// ownPrivate refuses a workspace whose parts do not lie where ours do.
func (t *Trees) ownPrivate(w workspace.Workspace) error {
	own := filepath.Join(w.Dir, workspace.GitName)
	if w.Shell != "" {
		own = filepath.Join(w.Files(), ".git")
		if w.Kind() != workspace.Overlay || filepath.Dir(w.Shell) != t.Dir || !shellForm().MatchString(filepath.Base(w.Shell)) {
			return &OutsideError{Dir: w.Shell, Root: t.Dir}
		}
	}
	if w.Admin != "" && w.Admin != own {
		return &OutsideError{Dir: w.Admin, Root: w.Dir}
	}
	for _, layer := range []string{w.Lower, w.Under} {
		if layer == "" {
			continue
		}
		if !bases.IsTree(t.Bases, layer) {
			return &OutsideError{Dir: layer, Root: t.Bases}
		}
	}
	if w.Along != "" && (filepath.Dir(w.Along) != t.Dir || !alongForm().MatchString(filepath.Base(w.Along))) {
		return &OutsideError{Dir: w.Along, Root: t.Dir}
	}
	return nil
}

// RemoveRun removes the folder of the workspaces of a run, with their common
// files. The folder stays if a workspace or a foreign file is left in it.
func RemoveRun(dir string) error {
	empty, err := removeShared(dir)
	if err == nil && empty {
		err = os.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("remove the folder of a run: %w", err)
	}
	return nil
}

// removeShared removes the common files of the workspaces of a run, if no
// workspace is left. It reports whether the folder is empty then.
func removeShared(dir string) (empty bool, err error) {
	entries, err := os.ReadDir(dir)
	if disk.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !shared(e.Name()) {
			return false, nil
		}
	}
	for _, e := range entries {
		err = errors.Join(err, disk.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err == nil, err
}

// shared reports whether an entry of the folder of a run is common to its
// workspaces.
func shared(name string) bool {
	return name == templateName || alongForm().MatchString(name) || shellForm().MatchString(name)
}

// Close ends idle helpers, releases the bases that this process holds, and
// removes the common files of its workspaces, if no workspace is left. The trees
// may be used again.
func (t *Trees) Close() (err error) {
	t.commonMu.Lock()
	defer t.commonMu.Unlock()
	err = t.endHelpers()
	// Packs that lie apart, as on a full disk, are as good.
	_ = t.landed.Gather()
	err = errors.Join(err, t.bases.Close())
	t.template, t.layer = nil, ""
	clear(t.shells)
	_, rerr := removeShared(t.Dir)
	if err = errors.Join(err, rerr); err != nil {
		return fmt.Errorf("let go of the bases: %w", err)
	}
	return nil
}

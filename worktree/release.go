package worktree

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

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/trash"
	"agentswarm/worktree/workspace"
)

// Released is the result of a release.
type Released struct {
	// Trashed is the folder in the trash that holds it; empty where it was
	// removed, since the capture holds all of it.
	Trashed string `json:"trashed,omitempty"`
	// Kept is a registration that no longer leads to the workspace, and so may
	// belong to another process. It is left alone.
	Kept string `json:"kept,omitempty"`
}

// Release ends a workspace. It goes at once if its tree equals the capture
// and nothing ignored is new in it, else by rename into the trash; with no
// capture it always goes into the trash.
//
// It may be run again after a crash at any point.
func (t *Trees) Release(ctx context.Context, w workspace.Workspace, c *Capture) (Released, error) {
	if err := t.own(w); err != nil {
		return Released{}, fmt.Errorf("release %s: %w", w.Name, err)
	}
	defer t.fills.Ending()()
	out, err := t.release(ctx, w, c, nil)
	if err != nil {
		return out, fmt.Errorf("release %s: %w", w.Name, err)
	}
	return out, nil
}

// release moves a workspace into the trash. There keep, if it is not nil, may
// take files from it; then the entry is removed if the capture holds the rest.
func (t *Trees) release(ctx context.Context, w workspace.Workspace, c *Capture,
	keep func(ctx context.Context, w workspace.Workspace, c *Capture, entry string) error,
) (out Released, err error) {
	entry, err := t.discard(w, c)
	if err != nil {
		return out, err
	}
	if err := t.step("moved"); err != nil {
		return out, err
	}
	if w.Private() {
		err = t.leave(w, entry)
	} else {
		out.Kept, err = t.unregister(ctx, w, entry)
	}
	if err != nil {
		return out, err
	}
	if err := t.step("unregistered"); err != nil {
		return out, err
	}
	if entry == "" {
		return out, nil
	}
	if keep != nil {
		if err := keep(ctx, w, c, entry); err != nil {
			return out, err
		}
	}
	record, err := trash.Read(entry)
	if err != nil {
		return out, err
	}
	if !record.Whole {
		out.Trashed = entry
		return out, nil
	}
	return out, trash.Remove(entry)
}

// trash is the trash as this run uses it.
func (t *Trees) trash() trash.Trash { return trash.Trash{Dir: t.Trash, Run: filepath.Base(t.Dir)} }

// discard renames the workspace into the trash and returns the entry, which an
// earlier try may have made. It returns no entry if the workspace had vanished
// before.
func (t *Trees) discard(w workspace.Workspace, c *Capture) (entry string, err error) {
	_, err = os.Lstat(w.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return t.trash().Find(w)
	}
	if err != nil {
		return "", err
	}
	record := trash.Record{Workspace: w, Whole: whole(w, c)}
	if c != nil {
		record.Commit = c.Commit
		for _, f := range c.Large {
			record.Large = append(record.Large, f.Path)
		}
	}
	if entry, err = t.trash().Add(record); err != nil {
		return "", err
	}
	if err := t.step("entered"); err != nil {
		return "", err
	}
	if err := os.Rename(w.Dir, filepath.Join(entry, "tree")); err != nil {
		return "", errors.Join(err, disk.RemoveAll(entry))
	}
	return entry, nil
}

// whole reports whether a capture holds all of a workspace as it is now.
// Git dirs of submodules are in no capture.
func whole(w workspace.Workspace, c *Capture) bool {
	if c == nil || !c.Complete || len(c.Ignored) > 0 {
		return false
	}
	if _, err := os.Lstat(filepath.Join(w.Admin, "modules")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now, err := survey.SealOf(w)
	return err == nil && now == c.Seal
}

// unregister removes git's folder for a workspace by its recorded name, if
// it is that of this workspace still; else it returns the folder.
func (t *Trees) unregister(ctx context.Context, w workspace.Workspace, entry string) (kept string, err error) {
	if w.Admin == "" {
		return "", nil
	}
	err = t.registering(ctx, func() error {
		switch _, err := os.Lstat(w.Admin); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		if !leadsTo(w.Admin, w.Dir) && !halfRemoved(w.Admin) && !halfMade(w.Admin, w.Name) {
			kept = w.Admin
			return nil
		}
		modules := filepath.Join(w.Admin, "modules")
		// The check comes first: between two file systems a rename of a missing
		// file fails as if it existed.
		if _, err := os.Lstat(modules); err == nil && entry != "" {
			if err := os.Rename(modules, filepath.Join(entry, "modules")); err != nil {
				kept = w.Admin
				return nil
			}
		}
		return removeAdmin(w.Admin)
	})
	return kept, err
}

// Strays are the workspaces of the run that known does not name: a crash came
// between the making of a workspace and its record. No agent was started in
// such a workspace, and Release removes it. Of some only the registration is
// left, or the rest of its interrupted removal: their folder is gone.
func (t *Trees) Strays(known []string) ([]workspace.Workspace, error) {
	entries, err := os.ReadDir(t.Dir)
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	admins, halves, err := t.registered()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		names = append(names, e.Name())
		for half := range halves {
			if admins[e.Name()] == "" && halfMade(half, e.Name()) {
				admins[e.Name()] = half
				delete(halves, half)
			}
		}
	}
	for half := range halves {
		if name := filepath.Base(half); admins[name] == "" {
			admins[name] = half
		}
	}
	names = append(names, slices.Sorted(maps.Keys(admins))...)
	var strays []workspace.Workspace
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || workspace.CheckName(name) != nil || slices.Contains(known, name) {
			continue
		}
		seen[name] = true
		if w, ok := t.recorded(name); ok {
			strays = append(strays, w)
			continue
		}
		strays = append(strays, workspace.Workspace{
			Name: name, Dir: filepath.Join(t.Dir, name), Admin: admins[name],
		})
	}
	return strays, nil
}

// registered are the registrations that lead below the folder of the run, by the
// name of the workspace, and the half ones. Those lead to no folder, and only
// the holder of the lock knows that no git uses them.
func (t *Trees) registered() (found map[string]string, halves map[string]bool, err error) {
	root := filepath.Join(t.Repo.CommonDir, "worktrees")
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("list registrations: %w", err)
	}
	found, halves = map[string]string{}, map[string]bool{}
	for _, e := range entries {
		admin := filepath.Join(root, e.Name())
		text, err := os.ReadFile(filepath.Join(admin, "gitdir"))
		if err != nil {
			if halfRemoved(admin) {
				halves[admin] = true
			}
			continue
		}
		dir := filepath.Dir(strings.TrimRight(string(text), "\r\n"))
		if filepath.Dir(dir) == t.Dir && leadsTo(admin, dir) && found[filepath.Base(dir)] == "" {
			found[filepath.Base(dir)] = admin
		}
	}
	return found, halves, nil
}

// Recycle is [Trees.Release] for a workspace in which no process is left that
// could write to it. If the capture is complete, the files that are as the
// lease made them go into the pool, and the next Lease starts from them.
//
// Such a file has the size, the inode, the modification time and the change
// time of the lease, no second name, and is in no process open to be written
// to: an agent may have passed a descriptor on. All folders and all other files
// stay behind: no file that an agent made, and no mode, time, attribute or git
// state that it set, is in the pool.
//
// Files that are not in the capture, such as new ignored files, go into the
// trash as with Release, without the files that are in the base anyway.
func (t *Trees) Recycle(ctx context.Context, w workspace.Workspace, c *Capture) (Released, error) {
	if err := t.own(w); err != nil {
		return Released{}, fmt.Errorf("release %s: %w", w.Name, err)
	}
	defer t.fills.Ending()()
	out, err := t.release(ctx, w, c, t.recycle)
	if err != nil {
		return out, fmt.Errorf("release %s: %w", w.Name, err)
	}
	return out, nil
}

// reusable reports whether the unchanged files of a workspace can be reused.
func (t *Trees) reusable(w workspace.Workspace, c *Capture) bool {
	return t.Pool != "" && w.Settled && w.Lower != "" && w.Reusable() && c != nil && c.Complete
}

// recycle moves the unchanged files of a workspace in the trash to the pool.
func (t *Trees) recycle(ctx context.Context, w workspace.Workspace, c *Capture, entry string) error {
	if !t.reusable(w, c) {
		return nil
	}
	base, err := baseline.Read(t.Repo, w.Index)
	if err != nil {
		return nil // without our copy of the index nothing is known of the files
	}
	return t.pool().Keep(ctx, pool.KeepRequest{
		Workspace: w, Base: base, Tree: filepath.Join(entry, "tree", workspace.TreeName), Scratch: filepath.Join(entry, "pool"),
	})
}

// pool is the pool of unchanged files.
func (t *Trees) pool() pool.Pool { return pool.Pool{Dir: t.Pool, Size: t.PoolSize, Step: t.Step} }

// plain reports whether no filter can make another file of the same object.
func (t *Trees) plain(ctx context.Context, w *workspace.Workspace) bool {
	q, err := t.Frozen.Quarantine(filepath.Join(w.Dir, "objects"))
	if err != nil {
		return false
	}
	f, err := t.readFilters(ctx, q)
	if err := errors.Join(err, q.Discard()); err != nil {
		return false
	}
	for driver := range f.drivers {
		if driver != "lfs" {
			return false
		}
	}
	return true
}

// Drop removes a workspace in which no agent worked, such as that of a check.
// It keeps no part of it.
func (t *Trees) Drop(ctx context.Context, w workspace.Workspace) error {
	if err := t.own(w); err != nil {
		return fmt.Errorf("drop %s: %w", w.Name, err)
	}
	if err := t.drop(ctx, w); err != nil {
		return fmt.Errorf("drop %s: %w", w.Name, err)
	}
	return nil
}

func (t *Trees) drop(ctx context.Context, w workspace.Workspace) error {
	entry, err := t.trash().Add(trash.Record{Workspace: w, Whole: true})
	if err != nil {
		return err
	}
	err = os.Rename(w.Dir, filepath.Join(entry, "tree"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, disk.RemoveAll(entry))
	}
	if w.Private() {
		return errors.Join(t.leave(w, entry), trash.Remove(entry))
	}
	// A workspace whose making was cut off may be registered at an unknown
	// place.
	admins := []string{w.Admin}
	if w.Admin == "" {
		if admins, err = t.adminsOf(w.Dir); err != nil {
			return err
		}
	}
	for _, admin := range admins {
		w.Admin = admin
		if _, err := t.unregister(ctx, w, entry); err != nil {
			return err
		}
	}
	return trash.Remove(entry)
}

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
)

// Released says what became of a workspace.
type Released struct {
	// Trashed is the folder in the trash that holds it; empty where it was
	// removed, since the capture holds all of it.
	Trashed string `json:"trashed,omitempty"`
	// Kept is a registration that no longer leads to the workspace, and so
	// may be somebody else's. It is left alone.
	Kept string `json:"kept,omitempty"`
}

// Release ends a workspace. It goes at once if its tree equals the capture
// and nothing ignored is new in it, else by rename into the trash; with no
// capture it always goes into the trash.
//
// It may be run again after a crash at any point.
func (t *Trees) Release(ctx context.Context, w Workspace, c *Capture) (Released, error) {
	if err := t.own(w); err != nil {
		return Released{}, fmt.Errorf("release %s: %w", w.Name, err)
	}
	defer t.fills.finish()()
	out, err := t.release(ctx, w, c, nil)
	if err != nil {
		return out, fmt.Errorf("release %s: %w", w.Name, err)
	}
	return out, nil
}

// release moves a workspace into the trash. There keep, if it is not nil, may
// take files from it; then the entry is removed if the capture holds the rest.
func (t *Trees) release(ctx context.Context, w Workspace, c *Capture,
	keep func(ctx context.Context, w Workspace, c *Capture, entry string) error,
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
	record, err := readEntry(entry)
	if err != nil {
		return out, err
	}
	if !record.Whole {
		out.Trashed = entry
		return out, nil
	}
	return out, removeEntry(entry)
}

// discard renames the workspace into the trash and returns the entry, which
// may be one that an earlier try made. There is none where the workspace had
// vanished before.
func (t *Trees) discard(w Workspace, c *Capture) (entry string, err error) {
	_, err = os.Lstat(w.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return t.entryOf(w)
	}
	if err != nil {
		return "", err
	}
	record := trashed{Workspace: w, Whole: whole(w, c)}
	if c != nil {
		record.Commit = c.Commit
		for _, f := range c.Large {
			record.Large = append(record.Large, f.Path)
		}
	}
	if entry, err = t.newEntry(record); err != nil {
		return "", err
	}
	if err := t.step("entered"); err != nil {
		return "", err
	}
	if err := os.Rename(w.Dir, filepath.Join(entry, "tree")); err != nil {
		return "", errors.Join(err, RemoveAll(entry))
	}
	return entry, nil
}

// whole reports whether a capture holds all of a workspace as it is now.
// Git dirs of submodules are in no capture.
func whole(w Workspace, c *Capture) bool {
	if c == nil || !c.Complete || len(c.Ignored) > 0 {
		return false
	}
	if _, err := os.Lstat(filepath.Join(w.Admin, "modules")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	now, err := sealOf(w)
	return err == nil && now == c.Seal
}

// unregister removes git's folder for a workspace by its recorded name, if
// it is that of this workspace still; else it returns the folder.
func (t *Trees) unregister(ctx context.Context, w Workspace, entry string) (kept string, err error) {
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
		// Looked for first: between two file systems a rename of what is not
		// there fails as if it were.
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

// Strays are the workspaces of the run that known does not name: what a crash
// left between the making of a workspace and its record. No agent was started
// in one, and Release takes it away. Of some only the registration is left, or
// what a removal that was cut off left of that: their folder is gone.
func (t *Trees) Strays(known []string) ([]Workspace, error) {
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
	var strays []Workspace
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] || checkName(name) != nil || slices.Contains(known, name) {
			continue
		}
		seen[name] = true
		if w, ok := t.recorded(name); ok {
			strays = append(strays, w)
			continue
		}
		strays = append(strays, Workspace{
			Name: name, Dir: filepath.Join(t.Dir, name), Admin: admins[name],
		})
	}
	return strays, nil
}

// registered are the registrations that lead below the folder of the run, by
// the name of the workspace, and what there is of half ones: those lead nowhere,
// and only whoever holds the lock knows that nobody is at them.
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

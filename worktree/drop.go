package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Drop removes a workspace in which no agent worked, such as one that a
// check ran in: nothing of it is kept.
func (t *Trees) Drop(ctx context.Context, w Workspace) error {
	if err := t.own(w); err != nil {
		return fmt.Errorf("drop %s: %w", w.Name, err)
	}
	if err := t.drop(ctx, w); err != nil {
		return fmt.Errorf("drop %s: %w", w.Name, err)
	}
	return nil
}

func (t *Trees) drop(ctx context.Context, w Workspace) error {
	entry, err := t.newEntry(trashed{Workspace: w, Whole: true})
	if err != nil {
		return err
	}
	err = os.Rename(w.Dir, filepath.Join(entry, "tree"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, RemoveAll(entry))
	}
	if w.Private() {
		return errors.Join(t.leave(w, entry), removeEntry(entry))
	}
	// One whose making was cut off may be registered without our knowing
	// where.
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
	return removeEntry(entry)
}

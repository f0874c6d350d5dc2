package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/fill"
	"agentswarm/worktree/git"
	"agentswarm/worktree/pool"
	"agentswarm/worktree/step"
	"agentswarm/worktree/workspace"
)

// cleanUp bounds the time of cleaning up after a cancelled context.
const cleanUp = 30 * time.Second

// LeaseRequest asks for a workspace.
type LeaseRequest struct {
	Name  string   // required; unique in the run, as "a1.1"
	Base  git.Hash // required; the commit it holds
	Saved string   // required; where our copy of the index goes

	Backend workspace.Backend // empty: worktree
}

// Lease makes a workspace. It registers a linked worktree, fills it with the
// base, and saves the index that a capture compares with. If it returns an
// error, also since ctx ended, it has removed the workspace.
func (t *Trees) Lease(ctx context.Context, l LeaseRequest) (_ *workspace.Workspace, err error) {
	if err := workspace.CheckName(l.Name); err != nil {
		return nil, err
	}
	w := &workspace.Workspace{
		Name: l.Name, Dir: filepath.Join(t.Dir, l.Name), Base: l.Base, Index: l.Saved,
		Backend: l.Backend,
	}
	if w.Private() {
		w.At = t.At
	}
	// The process that makes the folder owns the name, and alone cleans up
	// after it.
	switch err := os.Mkdir(w.Dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return nil, &TakenError{Dir: w.Dir}
	case err != nil:
		return nil, fmt.Errorf("lease %s: %w", w.Name, err)
	}
	begun := false
	defer func() {
		switch {
		case err == nil || step.Died(err):
		case !begun:
			err = errors.Join(err, os.Remove(w.Dir))
		default:
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
			defer cancel()
			err = errors.Join(err, t.unmake(ctx, w))
		}
	}()
	if begun = w.Private(); begun {
		if err := t.leasePrivate(ctx, w); err != nil {
			return nil, fmt.Errorf("lease %s: %w", w.Name, t.blame(ctx, err))
		}
		if err := t.leaseModules(ctx, *w); err != nil {
			return nil, fmt.Errorf("lease %s: %w", w.Name, err)
		}
		return w, t.step("saved")
	}
	err = t.registering(ctx, func() error {
		begun = true
		return t.registerOnce(ctx, w)
	})
	if err != nil {
		return nil, fmt.Errorf("lease %s: %w", w.Name, t.blame(ctx, err))
	}
	if err := t.fill(ctx, w); err != nil {
		return nil, fmt.Errorf("lease %s: %w", w.Name, err)
	}
	if err := t.save(w); err != nil {
		return nil, fmt.Errorf("lease %s: %w", w.Name, err)
	}
	if err := t.leaseModules(ctx, *w); err != nil {
		return nil, fmt.Errorf("lease %s: %w", w.Name, err)
	}
	return w, t.step("saved")
}

// registerOnce registers, and retries if another git, which does not use our
// lock, was in the way.
func (t *Trees) registerOnce(ctx context.Context, w *workspace.Workspace) (err error) {
	for gap := 5 * time.Millisecond; ; gap *= 3 {
		w.Admin, err = t.Repo.Register(ctx, w.Dir, w.Base, reason)
		if err == nil || !git.Transient(err) || gap > time.Second {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(gap):
		}
		// Files of the failed try would be in the way of the next try.
		if err := errors.Join(t.remains(w), os.Mkdir(w.Dir, 0o700)); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return t.step("registered")
}

// fill checks out the base and copies the included files. The disk's speed
// limits how many run at once.
func (t *Trees) fill(ctx context.Context, w *workspace.Workspace) error {
	if err := t.fills.Enter(ctx); err != nil {
		return err
	}
	err := t.checkOut(ctx, checkingOut{
		fill: git.FillRequest{Dir: w.Dir, Admin: w.Admin, Base: w.Base}, scratch: w.Index + ".fill",
	})
	if err == nil {
		err = t.bring(ctx, w)
	}
	t.fills.Leave(err == nil)
	if err != nil {
		return err
	}
	return t.step("filled")
}

// save copies the index away from where the agent can write to it.
func (t *Trees) save(w *workspace.Workspace) error {
	text, err := os.ReadFile(filepath.Join(w.Admin, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the base has no index after the fill")
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.Index), 0o700); err != nil {
		return err
	}
	if err := disk.WriteFile(w.Index, text); err != nil {
		return err
	}
	return t.measure(w)
}

// unmake removes the files of a failed lease. No agent worked there.
func (t *Trees) unmake(ctx context.Context, w *workspace.Workspace) error {
	if w.Private() {
		return t.unmakePrivate(w)
	}
	return t.registering(ctx, func() error {
		err := t.remains(w)
		for _, file := range []string{w.Index, w.PlacedFile()} {
			if rm := os.Remove(file); !errors.Is(rm, fs.ErrNotExist) {
				err = errors.Join(err, rm)
			}
		}
		return err
	})
}

// remains removes the folder and the registration of a workspace that no
// agent has seen. The caller holds the lock.
func (t *Trees) remains(w *workspace.Workspace) error {
	admins, err := t.adminsOf(w.Dir)
	for _, admin := range admins {
		err = errors.Join(err, removeAdmin(admin))
	}
	return errors.Join(err, disk.RemoveAll(w.Dir))
}

// adminsOf finds the registrations that lead to dir. Git names the folders,
// and the .git file in dir is not to be trusted once an agent was there.
func (t *Trees) adminsOf(dir string) ([]string, error) {
	root := filepath.Join(t.Repo.CommonDir, "worktrees")
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list registrations: %w", err)
	}
	var found []string
	for _, e := range entries {
		admin := filepath.Join(root, e.Name())
		if leadsTo(admin, dir) || halfMade(admin, filepath.Base(dir)) {
			found = append(found, admin)
		}
	}
	return found, nil
}

// leadsTo reports whether a registration is that of dir.
func leadsTo(admin, dir string) bool {
	text, err := os.ReadFile(filepath.Join(admin, "gitdir"))
	return err == nil && strings.TrimRight(string(text), "\r\n") == filepath.Join(dir, ".git")
}

// halfMade reports whether a registration is the rest of a git that was killed
// while it made a registration for a workspace of this name. Git appends digits
// to a name that is taken, and the first file that it writes has our reason.
// Without a gitdir file such a registration has no owner. With neither file git
// itself removed it in part.
func halfMade(admin, name string) bool {
	more, ok := strings.CutPrefix(filepath.Base(admin), name)
	if !ok || strings.Trim(more, "0123456789") != "" {
		return false
	}
	if halfRemoved(admin) {
		return true
	}
	_, err := os.Lstat(filepath.Join(admin, "gitdir"))
	locked, lerr := os.ReadFile(filepath.Join(admin, "locked"))
	return errors.Is(err, fs.ErrNotExist) && len(locked) == 0 && (lerr == nil || errors.Is(lerr, fs.ErrNotExist))
}

// reason is the text of our lock on a registration. Without the lock `git
// worktree prune` would remove a registration whose folder is out of sight.
const reason = "swarm works here"

// removeAdmin removes a registration so that no git ever sees half of it:
// without its gitdir file it is none. While its lock exists no git prunes it or
// reuses its name.
func removeAdmin(admin string) error {
	err := os.Remove(filepath.Join(admin, "gitdir"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove registration: %w", err)
	}
	entries, err := os.ReadDir(admin)
	if err != nil {
		return fmt.Errorf("remove registration: %w", err)
	}
	for _, e := range entries {
		if e.Name() != "locked" {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(admin, e.Name())))
		}
	}
	return errors.Join(err, disk.RemoveAll(admin))
}

// halfRemoved reports whether a crash ended a removal of ours.
func halfRemoved(admin string) bool {
	_, err := os.Lstat(filepath.Join(admin, "gitdir"))
	text, rerr := os.ReadFile(filepath.Join(admin, "locked"))
	return errors.Is(err, fs.ErrNotExist) && rerr == nil &&
		strings.TrimSpace(string(text)) == reason
}

// fillClone fills a workspace with clones of the files of its base, with an
// index that has their status, and with the included files.
func (t *Trees) fillClone(ctx context.Context, w *workspace.Workspace, c *fill.Clone) (err error) {
	if err := t.fills.Enter(ctx); err != nil {
		return err
	}
	err = t.cloneBase(ctx, w, c)
	if err == nil {
		err = t.bring(ctx, w)
	}
	t.fills.Leave(err == nil)
	if err != nil {
		return err
	}
	dotGit := filepath.Join(w.Files(), ".git")
	if w.At != "" {
		return os.Mkdir(dotGit, 0o700) // its git dir is mounted there
	}
	return os.WriteFile(dotGit, []byte(leadTo(w.Admin)), 0o600)
}

func (t *Trees) cloneBase(ctx context.Context, w *workspace.Workspace, c *fill.Clone) error {
	text, err := os.ReadFile(c.Index)
	if err != nil {
		return err
	}
	entries, err := t.Repo.ParseIndex(text)
	if err != nil {
		return err
	}
	c.To = w.Files()
	if c.Stats, err = t.pool().Take(ctx, pool.TakeRequest{Workspace: w, Entries: entries, Plain: func() bool { return t.plain(ctx, w) }}); err != nil {
		return err
	}
	if c.Stats == nil {
		c.Stats = map[string]git.IndexStat{}
		if err := os.Mkdir(c.To, 0o700); err != nil {
			return err
		}
	}
	if err := c.Run(ctx, entries); err != nil {
		return err
	}
	if w.Settled, err = c.Settled(ctx, w.Dir); err != nil {
		return err
	}
	text, err = t.Repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		s, ok := c.Stats[e.Path]
		return s, ok
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(w.Index), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(w.Index, text)
}

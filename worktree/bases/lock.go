package bases

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/workspace"
)

// lockBase takes the lock of a base. The removal of a base removes its lock
// file, too: a lock without a name protects no base.
func lockBase(ctx context.Context, dir string, how int) (*os.File, error) {
	for {
		f, err := statefile.Open(filepath.Dir(dir), dir+lockSuffix, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err := disk.Lock(ctx, f, how); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if disk.Named(f) {
			return f, nil
		}
		if err := disk.Unlock(f); err != nil {
			return nil, err
		}
	}
}

// tryBase takes the lock of an unused base; else it returns EWOULDBLOCK. It
// retries for a moment: a process that was just forked holds its killed
// parent's locks until it runs a program of its own.
func tryBase(ctx context.Context, dir string) (*os.File, error) {
	moment, cancel := context.WithTimeout(ctx, disk.ForkTime)
	defer cancel()
	f, err := lockBase(moment, dir, unix.LOCK_EX)
	if err != nil && ctx.Err() == nil && moment.Err() != nil {
		return nil, unix.EWOULDBLOCK
	}
	return f, err
}

// Enlist says that a workspace stands on a base.
func (b *Base) Enlist(run string, w workspace.Workspace) error {
	link := filepath.Join(b.users(), run+"."+w.Name)
	if err := os.Symlink(w.Dir, link); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(os.Remove(link), os.Symlink(w.Dir, link))
}

// Leave records that a workspace no longer stands on its base. An unknown
// workspace stays on the list, where it has no meaning once the workspace is
// gone.
func Leave(run string, w workspace.Workspace) error {
	if w.Lower == "" {
		return nil
	}
	err := os.Remove(filepath.Join(filepath.Dir(w.Lower), usersName, run+"."+w.Name))
	if disk.Missing(err) {
		return nil
	}
	return err
}

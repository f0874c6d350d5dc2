package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
	"agentswarm/worktree/disk"
)

// registering runs fn while no other registration is under way, in this process
// or in another process on the same repository.
func (t *Trees) registering(ctx context.Context, fn func() error) error {
	if err := t.register.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for the lock on worktrees: %w", context.Cause(ctx))
	}
	defer t.register.Release(1)
	unlock, err := lockFile(ctx, t.LockFile)
	if err != nil {
		return err
	}
	return errors.Join(fn(), unlock())
}

// lockFile takes an exclusive lock on a file, which it makes where there is
// none. The lock ends with the process at the latest.
func lockFile(ctx context.Context, path string) (unlock func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock worktrees: %w", err)
	}
	f, err := statefile.Open(filepath.Dir(path), path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock worktrees: %w", err)
	}
	if err := disk.Lock(ctx, f, unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock worktrees: %w", err), f.Close())
	}
	return func() error { return disk.Unlock(f) }, nil
}

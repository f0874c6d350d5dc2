package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/internal/statefile"
)

// lockBase takes the lock of a base. Whoever removes a base removes its lock,
// too: one that has no name any more is nobody's.
func lockBase(ctx context.Context, dir string, how int) (*os.File, error) {
	for {
		f, err := statefile.Open(filepath.Dir(dir), dir+lockSuffix, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err := flock(ctx, f, how); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if named(f) {
			return f, nil
		}
		if err := letGo(f); err != nil {
			return nil, err
		}
	}
}

// named reports whether an open file still has its name.
func named(f *os.File) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	at, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(ours, at)
}

// tryBase takes the lock of a base that nobody uses; else it says EWOULDBLOCK.
// It asks for a moment: a process that was just forked holds what its parent
// had when it was killed until it runs a program of its own.
func tryBase(ctx context.Context, dir string) (*os.File, error) {
	moment, cancel := context.WithTimeout(ctx, forkTime)
	defer cancel()
	f, err := lockBase(moment, dir, unix.LOCK_EX)
	if err != nil && ctx.Err() == nil && moment.Err() != nil {
		return nil, unix.EWOULDBLOCK
	}
	return f, err
}

// forkTime is more than a fork takes on a busy machine.
const forkTime = 100 * time.Millisecond

// flock takes a lock on an open file, and gives up when ctx ends. A lock that is
// free is taken even then: a process that was not run for a while may have had but
// a moment for it.
//
// It asks again and again, since a blocking flock(2) could not be given up. What
// the locks are held for takes some milliseconds, as a registration, or so long
// that a gap of two is nothing, as the checkout of a base.
func flock(ctx context.Context, f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", filepath.Base(f.Name()), context.Cause(ctx))
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// letGo gives a lock up at once. Closing the file is not enough: a child that
// was forked, and has not come to its exec, still holds it open.
func letGo(f *os.File) error {
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

// enlist says that a workspace stands on a base.
func (b *base) enlist(run string, w *Workspace) error {
	link := filepath.Join(b.users(), run+"."+w.Name)
	if err := os.Symlink(w.Dir, link); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(os.Remove(link), os.Symlink(w.Dir, link))
}

// delist says that a workspace stands on its base no more. One that is not
// known stays on the list, which says nothing once the workspace is gone.
func (t *Trees) delist(w Workspace) error {
	if w.Lower == "" {
		return nil
	}
	err := os.Remove(filepath.Join(filepath.Dir(w.Lower), usersName, filepath.Base(t.Dir)+"."+w.Name))
	if missing(err) {
		return nil
	}
	return err
}

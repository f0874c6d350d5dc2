package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Named reports whether an open file still has its name.
func Named(f *os.File) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	at, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(ours, at)
}

// ForkTime is more than a fork takes on a busy machine.
const ForkTime = 100 * time.Millisecond

// Lock takes a lock on an open file, and gives up when ctx ends. A lock that is
// free is taken even then: a process that was not run for a while may have had but
// a moment for it.
//
// It asks again and again, since a blocking flock(2) could not be given up. What
// the locks are held for takes some milliseconds, as a registration, or so long
// that a gap of two is nothing, as the checkout of a base.
func Lock(ctx context.Context, f *os.File, how int) error {
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

// Unlock gives a lock up at once. Closing the file is not enough: a child that
// was forked, and has not come to its exec, still holds it open.
func Unlock(f *os.File) error {
	return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close())
}

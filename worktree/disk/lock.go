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

// Lock takes a lock on an open file, and gives up when ctx ends. It still takes a
// free lock then: a process that did not run for a while may have had only a
// moment for it.
//
// It polls, since a blocking flock(2) cannot be cancelled. Most locks are held for
// some milliseconds, as for a registration. Others are held so long that a gap of
// two milliseconds does not matter, as for the checkout of a base.
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

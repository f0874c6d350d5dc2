package baseline

import (
	"context"
	"errors"
	"os"
	"time"

	"agentswarm/worktree/git"
)

// Tick reads the clock of the file system of a folder, which is also that of
// the workspaces. It waits until the time is later than last: the clock stands
// still for a few milliseconds, and a second write in the same tick looks like
// none. It does not wait for a clock that is slower than that.
func Tick(ctx context.Context, dir string, last git.IndexTime) (now git.IndexTime, err error) {
	f, err := os.CreateTemp(dir, ".tick.*")
	if err != nil {
		return now, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	for try := 0; ; try++ {
		at, err := f.Stat()
		if err != nil {
			return now, err
		}
		if now = Stat(at).CTime; last.Before(now) || try == maxTicks {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
		if err := f.Chmod(0o600); err != nil { // sets the time of the status
			return now, err
		}
	}
}

// maxTicks is how many milliseconds a clock may take: that of the kernel
// moves every ten at the slowest.
const maxTicks = 30

// racy is how long before the last file of a fill an equal time proves
// nothing: the clock of a file system stands still for a tick.
const racy = 20_000_000 // nanoseconds

// earlier subtracts the time that a clock may stand still. On a file system
// without nanoseconds that is a second or two.
func earlier(t git.IndexTime) git.IndexTime {
	switch {
	case t.Nano >= racy:
		return git.IndexTime{Sec: t.Sec, Nano: t.Nano - racy}
	case t.Nano > 0 && t.Sec > 0:
		return git.IndexTime{Sec: t.Sec - 1, Nano: t.Nano + 1_000_000_000 - racy}
	default:
		return git.IndexTime{Sec: max(t.Sec, 2) - 2}
	}
}

package checkout

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

// lockEvery is how often a lock that another process holds is tried again.
const lockEvery = 20 * time.Millisecond

// locks are those of a transaction. They end with the process; that on working
// lasts as long as a git that moves a ref.
type locks struct{ owner, working *os.File }

// errTaken says that another process holds the lock.
var errTaken = errors.New("another process changes a checkout of this repository")

// try takes the locks; it is errTaken where another process has a transaction in
// progress. A git of a process that died is waited for: it ends by itself.
func try(ctx context.Context, records string) (*locks, error) {
	owner, err := statefile.Open(records, filepath.Join(records, "lock"), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("lock the checkouts: %w", err)
	}
	if err := flock(owner); err != nil {
		return nil, errors.Join(err, owner.Close())
	}
	working, err := statefile.Open(records, filepath.Join(records, "working"), os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the checkouts: %w", err), owner.Close())
	}
	l := &locks{owner: owner, working: working}
	if err := poll(ctx, func() error { return flock(working) }); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// wait is [try] until it succeeds.
func wait(ctx context.Context, records string) (l *locks, err error) {
	err = poll(ctx, func() (err error) {
		l, err = try(ctx, records)
		return err
	})
	return l, err
}

// poll repeats an attempt that fails with errTaken until ctx ends.
func poll(ctx context.Context, attempt func() error) error {
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		err := attempt()
		if !errors.Is(err, errTaken) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for another landing in this repository: %w", context.Cause(ctx))
		}
	}
}

func flock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return errTaken
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// close lets the locks go. A child that was forked and has not run its program
// yet holds the files open: owner is unlocked before, so that the next one need
// not wait for it. The gits of the transaction keep working locked.
func (l *locks) close() error {
	err := l.working.Close()
	return errors.Join(err, unix.Flock(int(l.owner.Fd()), unix.LOCK_UN), l.owner.Close())
}

// mark is the text of the lock that transaction id puts on an index.
func mark(id string) string { return "swarm transaction " + id + "\n" }

// own is the path of a file of ours in the git dir of the checkout.
func (s *side) own(id, kind string) string {
	return filepath.Join(s.GitDir, "swarm-"+id+"."+kind)
}

// ownFiles are the kinds of files of ours in a git dir, beside the lock. A git that
// writes the next index locks it; if it is killed the lock stays.
func ownFiles() []string { return []string{"index", "index.lock", "stat"} }

func (s *side) indexLock() string { return filepath.Join(s.GitDir, "index.lock") }

// lockIndex keeps other gits from writing the index. The lock is a link to a
// file of ours, by which it is known to be ours after a crash.
func (s *side) lockIndex(id string) error {
	mine, lock := s.own(id, "lock"), s.indexLock()
	if err := writeSynced(mine, []byte(mark(id)), 0o600); err != nil {
		return writing(s.Dir, mine, err)
	}
	err := os.Link(mine, lock)
	if unlinkable(err) {
		var f *os.File
		if f, err = os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			_, err = f.WriteString(mark(id))
			err = errors.Join(err, f.Close())
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{Dir: s.Dir, Lock: lock}
	}
	return writing(s.Dir, lock, err)
}

// locked reports whether the lock on the index is that of this transaction.
func (s *side) locked(id string) bool {
	a, aerr := os.Lstat(s.own(id, "lock"))
	b, berr := os.Lstat(s.indexLock())
	if berr != nil {
		return false
	}
	if aerr == nil && os.SameFile(a, b) {
		return true
	}
	if !b.Mode().IsRegular() || b.Size() != int64(len(mark(id))) {
		return false
	}
	text, err := os.ReadFile(s.indexLock())
	return err == nil && string(text) == mark(id)
}

// unlockIndex removes the lock on the index if it is that of this transaction.
func (s *side) unlockIndex(id string) error {
	var err error
	if s.locked(id) {
		err = os.Remove(s.indexLock())
	}
	return errors.Join(err, removeFile(s.own(id, "lock")))
}

// removeFile removes a file that may be gone already.
func removeFile(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil // a disk that is read-only says something else
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Package bases keeps the checkouts that workspaces share, called bases: whole
// checkouts, and layers that hold the difference from a whole checkout. It
// makes, locks, checks, bounds and removes them. [Files] writes their files.
package bases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/fill"
	"agentswarm/worktree/git"
	"agentswarm/worktree/step"
)

// Files writes the files of commits into bases. Filters that read the work of
// agents run in a sandbox there.
type Files interface {
	// Foreign reports whether agents may have written the files of a commit.
	Foreign(commit git.Hash) bool
	// CheckOut checks a whole commit out. The folder scratch is not there before
	// and after.
	CheckOut(ctx context.Context, fill git.FillRequest, scratch string) error
	// Change turns a checkout of a commit into a checkout of another commit.
	Change(ctx context.Context, r ChangeRequest) error
	// Programs are the words of the commands of filters: paths of the base among
	// them are programs that filters run.
	Programs(ctx context.Context, scratch string) ([]string, error)
}

// ChangeRequest asks for the files of a commit that differ from another.
type ChangeRequest struct {
	git.ChangeRequest                 // required, but for Without
	Scratch           string          // required; a folder that is not there yet
	Paths             map[string]bool // required; the files that differ
}

// Config holds the settings of [Open].
type Config struct {
	Repo   *git.Repo   // required
	Frozen *git.Frozen // required; made before any agent started
	Dir    string      // required; the folder of the bases
	Size   int64       // bytes that they may take; 0: see [Limit]
	Gate   *fill.Gate  // required
	Files  Files       // required
	Step   step.Hook
}

// Store makes bases and keeps those that are in use from being removed.
type Store struct {
	Config
	making *semaphore.Weighted // a single base at a time in this process

	mu   sync.Mutex // guards the fields below
	held map[git.Hash]*Base
}

// Open returns a store that holds no base.
func Open(c Config) *Store {
	return &Store{Config: c, making: semaphore.NewWeighted(1), held: map[git.Hash]*Base{}}
}

// Close lets go of all bases. The store may be used again.
func (s *Store) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for commit, b := range s.held {
		err = errors.Join(err, b.let())
		delete(s.held, commit)
	}
	return err
}

const (
	baseRecordName = "base.json"
	usersName      = "users"
	lockSuffix     = ".lock"
	makingSuffix   = ".making" // with lockSuffix: of the process that makes a base
	newInfix       = ".new."
)

// objectsLink is, in the folder of bases, a name for the repository's objects
// that is right outside of an agent's view and, since they are mounted there,
// inside of it, where the repository's own git dir is out of sight.
const objectsLink = "objects"

// Objects is where the git dirs of workspaces look for the objects of the
// repository, and where those are.
func (s *Store) Objects() (link, objects string) {
	return filepath.Join(s.Dir, objectsLink), filepath.Join(s.Repo.CommonDir, "objects")
}

// linkObjects makes the link, once.
func (s *Store) linkObjects() error {
	link, objects := s.Objects()
	if to, err := os.Readlink(link); err == nil && to == objects {
		return nil
	}
	next, err := os.MkdirTemp(s.Dir, ".link.")
	if err != nil {
		return err
	}
	made := filepath.Join(next, objectsLink)
	return errors.Join(os.Symlink(objects, made), os.Rename(made, link), os.RemoveAll(next))
}

// keptBases is the number of bases that a process protects from removal while
// no workspace uses them: the next agent starts from such a base.
const keptBases = 4

// Get finds or makes the checkout of a commit. The checkout is not removed
// until done is called. Get returns an error if it cannot make the checkout, or
// the cause of ctx.
func (s *Store) Get(ctx context.Context, commit git.Hash) (b *Base, done func(), err error) {
	if b := s.hold(commit); b != nil {
		return b, func() { s.unhold(b) }, nil
	}
	if err := s.making.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("wait for the checkout of a base: %w", context.Cause(ctx))
	}
	defer s.making.Release(1)
	if b := s.hold(commit); b != nil {
		return b, func() { s.unhold(b) }, nil
	}
	if err := s.linkObjects(); err != nil {
		return nil, nil, err
	}
	if b, err = s.holdBase(ctx, commit); err != nil {
		return nil, nil, fmt.Errorf("check %s out for many: %w", commit.Short(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.busy, b.used = 1, time.Now()
	s.held[commit] = b
	return b, func() { s.unhold(b) }, s.letOld()
}

// hold returns a base that this process holds. It drops a broken base.
func (s *Store) hold(commit git.Hash) *Base {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.held[commit]
	if b == nil {
		return nil
	}
	if _, err := b.whole(); err != nil {
		delete(s.held, commit)
		_ = b.let() // its files can only be closed
		return nil
	}
	b.busy++
	b.used = time.Now()
	return b
}

func (s *Store) unhold(b *Base) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.busy--
}

// giveUp is unhold, and releases the base if no other caller uses it.
func (s *Store) giveUp(b *Base) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.busy--; b.busy > 0 {
		return nil
	}
	delete(s.held, b.Commit)
	return b.let()
}

// letOld releases the bases that were not used for longest, layers before whole
// bases. To hold a layer again costs little, and other layers can lie on a
// whole base. The caller holds mu.
func (s *Store) letOld() error {
	for len(s.held) > keptBases {
		var oldest *Base
		for _, b := range s.held {
			layer := oldest != nil && b.under != nil && oldest.under == nil
			older := oldest == nil || (b.under == nil) == (oldest.under == nil) && b.used.Before(oldest.used)
			if b.busy == 0 && (layer || older) {
				oldest = b
			}
		}
		if oldest == nil {
			return nil
		}
		delete(s.held, oldest.Commit)
		if err := oldest.let(); err != nil {
			return err
		}
	}
	return nil
}

// holdBase takes the lock that keeps a base, which is made first where it is
// not there, or is broken.
func (s *Store) holdBase(ctx context.Context, commit git.Hash) (*Base, error) {
	key, err := s.baseKey(commit)
	if err != nil {
		return nil, err
	}
	b := &Base{dir: filepath.Join(s.Dir, key), Commit: commit}
	for made := false; ; made = true {
		if b.lock, err = lockBase(ctx, b.dir, unix.LOCK_SH); err != nil {
			return nil, err
		}
		r, err := b.whole()
		if err == nil && !disk.Named(b.lock) {
			err = &brokenError{part: "lock"} // a broken base was set aside just now
			made = false
		}
		if err == nil {
			return b, s.holdUnder(ctx, b, r)
		}
		if broken := (*brokenError)(nil); made && errors.As(err, &broken) {
			return nil, errors.Join(err, disk.Unlock(b.lock))
		}
		err = s.makeOnce(ctx, b)
		if made && err == nil && disk.Named(b.lock) {
			// It was swept as soon as it was let go, and would be again and again.
			if r, err := b.whole(); err == nil {
				return b, s.holdUnder(ctx, b, r)
			}
		}
		if err := errors.Join(err, disk.Unlock(b.lock)); err != nil {
			return nil, err
		}
		if err := s.boundBases(ctx, b); err != nil {
			return nil, err
		}
	}
}

// holdUnder holds, with a base, the base that it lies on, and records the use.
func (s *Store) holdUnder(ctx context.Context, b *Base, r baseRecord) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, b.let())
		}
	}()
	now := time.Now()
	if r.Under != "" {
		// It cannot be gone: it is not removed while anything lies on it.
		under := &Base{dir: filepath.Join(s.Dir, r.Under)}
		if under.lock, err = lockBase(ctx, under.dir, unix.LOCK_SH); err != nil {
			return err
		}
		b.under = under
		if err := os.Chtimes(under.dir, now, now); err != nil {
			return err
		}
	}
	return os.Chtimes(b.dir, now, now)
}

// makeOnce makes a base while no other process does. The caller protects its name
// from a sweep. Others may work with parts of a broken base; makeOnce does not
// wait for them. It does not touch the rest of a crash: a git process may still
// write to it.
func (s *Store) makeOnce(ctx context.Context, b *Base) error {
	lock, err := lockBase(ctx, b.dir+makingSuffix, unix.LOCK_EX)
	if err != nil {
		return err
	}
	if _, err := b.whole(); err == nil {
		return disk.Unlock(lock) // another process was first
	}
	if err := s.Gate.Enter(ctx); err != nil {
		return errors.Join(err, disk.Unlock(lock))
	}
	err = s.makeBase(ctx, b)
	s.Gate.Leave(false)
	if !step.Died(err) {
		err = errors.Join(err, os.Remove(lock.Name()))
	}
	return errors.Join(err, disk.Unlock(lock))
}

// boundBases removes the least recently used bases if they take too much space.
// The new base stays, whatever its size.
func (s *Store) boundBases(ctx context.Context, b *Base) error {
	limit := s.Size
	if limit == 0 {
		var err error
		if limit, err = Limit(s.Dir); err != nil {
			return err
		}
	}
	now := time.Now()
	if err := os.Chtimes(b.dir, now, now); err != nil && !disk.Missing(err) {
		return err
	}
	_, err := sweepBases(ctx, SweepRequest{Bases: s.Dir, Size: limit}, b.dir)
	return err
}

// makeBase fills the folder of a base and gives it its name when it is whole.
// The caller holds its lock alone.
func (s *Store) makeBase(ctx context.Context, b *Base) (err error) {
	dir, err := os.MkdirTemp(s.Dir, filepath.Base(b.dir)+newInfix)
	if err != nil {
		return err
	}
	next := &Base{dir: dir, Commit: b.Commit}
	defer func() {
		if err != nil && !step.Died(err) {
			err = errors.Join(err, disk.RemoveAll(dir))
		}
	}()
	for _, d := range []string{next.Tree(), next.users()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	record, err := s.fillBase(ctx, next)
	if err != nil {
		return err
	}
	err = next.remember(&record)
	var text []byte
	if err == nil {
		text, err = json.Marshal(record)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, baseRecordName), append(text, '\n'), 0o600)
	}
	if err == nil {
		err = saveBase(dir, record.Under != "")
	}
	if err != nil {
		return err
	}
	if err := b.setAside(next); err != nil {
		return err
	}
	if err := s.Step.At("based"); err != nil {
		return err
	}
	return os.Rename(dir, b.dir)
}

// fillBase checks the commit of a base out.
func (s *Store) fillBase(ctx context.Context, b *Base) (r baseRecord, err error) {
	d, err := s.derive(ctx, b)
	if err != nil {
		return r, err
	}
	if d != nil {
		return d.fill(ctx)
	}
	err = s.Files.CheckOut(ctx, git.FillRequest{Dir: b.Tree(), Admin: b.dir, Base: b.Commit}, filepath.Join(b.dir, "fill"))
	if err != nil {
		return r, err
	}
	if err := s.Step.At("checked out"); err != nil {
		return r, err
	}
	// The git dir of a workspace is mounted on it.
	if err := os.Mkdir(filepath.Join(b.Tree(), ".git"), 0o700); err != nil {
		return r, err
	}
	tree, err := s.Repo.TreeOnce(ctx, b.Commit)
	if err != nil {
		return r, err
	}
	all := WholeTime(tree)
	if r.Size, err = s.settle(b, func(*git.IndexEntry) (time.Time, bool) { return all, true }); err != nil {
		return r, err
	}
	return r, s.Step.At("settled")
}

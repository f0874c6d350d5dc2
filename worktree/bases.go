package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// base is a checkout of a commit that many workspaces share. Nobody writes to
// it once it is whole.
type base struct {
	dir  string
	lock *os.File // shared, so that nobody removes it
}

func (b *base) tree() string  { return filepath.Join(b.dir, treeName) }
func (b *base) index() string { return filepath.Join(b.dir, "index") }

// objectsLink is, in the folder of bases, a name for the repository's objects
// that is right outside of an agent's view and, since they are mounted there,
// inside of it, where the repository's own git dir is out of sight.
const objectsLink = "objects"

// Objects is where the git dirs of workspaces look for the objects of the
// repository, and where those are.
func (t *Trees) Objects() (link, objects string) {
	return filepath.Join(t.Bases, objectsLink), filepath.Join(t.Repo.CommonDir, "objects")
}

// linkObjects makes the link, once.
func (t *Trees) linkObjects() error {
	link, objects := t.Objects()
	if to, err := os.Readlink(link); err == nil && to == objects {
		return nil
	}
	if err := os.MkdirAll(t.Bases, 0o700); err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Symlink(objects, next), os.Rename(next, link))
}

// baseOf finds or makes the checkout of a commit, and keeps it from being
// removed while this process lives.
func (t *Trees) baseOf(ctx context.Context, commit git.Hash) (*base, error) {
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	if b := t.bases[commit]; b != nil {
		return b, nil
	}
	key, err := t.baseKey(commit)
	if err != nil {
		return nil, err
	}
	b := &base{dir: filepath.Join(t.Bases, key)}
	if err := t.linkObjects(); err != nil {
		return nil, err
	}
	if err := b.hold(ctx, func() error { return t.makeBase(ctx, b, commit) }); err != nil {
		return nil, fmt.Errorf("check %s out for many: %w", commit.Short(), err)
	}
	t.bases[commit] = b
	return b, nil
}

// baseKey names the checkout of a commit: what is in it depends on the
// configuration, too.
func (t *Trees) baseKey(commit git.Hash) (string, error) {
	sum := sha256.New()
	for _, name := range []string{"config", "info/attributes", "info/sparse-checkout", "user-attributes"} {
		text, err := os.ReadFile(filepath.Join(t.Frozen.Dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		// It names its own folder, which is another in each run.
		own := strings.ReplaceAll(string(text), t.Frozen.Dir, "")
		fmt.Fprintf(sum, "%s %d\n%s", name, len(own), own)
	}
	return string(commit) + "-" + hex.EncodeToString(sum.Sum(nil)[:4]), nil
}

// hold takes the lock that keeps a base, which is made first where it is not
// there.
func (b *base) hold(ctx context.Context, build func() error) error {
	for {
		f, err := os.OpenFile(b.dir+".lock", os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if err := flock(ctx, f, unix.LOCK_SH); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := os.Lstat(b.dir); err == nil {
			b.lock = f
			now := time.Now()
			return os.Chtimes(b.dir, now, now) // the last use
		}
		if err := errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), flock(ctx, f, unix.LOCK_EX)); err != nil {
			return errors.Join(err, f.Close())
		}
		if _, err := os.Lstat(b.dir); errors.Is(err, fs.ErrNotExist) {
			if err := build(); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}

// flock takes a lock on an open file, and gives up when ctx ends.
func flock(ctx context.Context, f *os.File, how int) error {
	gap := time.NewTimer(0)
	defer gap.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", filepath.Base(f.Name()), context.Cause(ctx))
		case <-gap.C:
		}
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR):
			gap.Reset(2 * time.Millisecond)
		default:
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// baseTime is what all files of a base were changed at: long ago, so that no
// git takes one for changed within its tick, and the same in every base.
func baseTime() time.Time { return time.Unix(1_000_000_000, 0) }

// makeBase fills the folder of a base and gives it its name when it is whole.
func (t *Trees) makeBase(ctx context.Context, b *base, commit git.Hash) (err error) {
	next := &base{dir: b.dir + ".new"}
	if err := RemoveAll(next.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(next.tree(), 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil && !died(err) {
			err = errors.Join(err, RemoveAll(next.dir))
		}
	}()
	err = t.Frozen.Fill(ctx, git.FillRequest{Dir: next.tree(), Admin: next.dir, Base: commit})
	if err != nil {
		return err
	}
	// What a workspace's git dir is mounted on.
	if err := os.Mkdir(filepath.Join(next.tree(), ".git"), 0o700); err != nil {
		return err
	}
	if err := t.settleTimes(next); err != nil {
		return err
	}
	if err := t.step("based"); err != nil {
		return err
	}
	return os.Rename(next.dir, b.dir)
}

// settleTimes gives all files of a base the same time, and writes an index
// that knows it.
func (t *Trees) settleTimes(b *base) error {
	text, err := os.ReadFile(b.index())
	if err != nil {
		return err
	}
	when := unix.NsecToTimespec(baseTime().UnixNano())
	var failed error
	text, err = t.Repo.Restat(text, func(path string) (git.IndexStat, bool) {
		full := filepath.Join(b.tree(), path)
		err := unix.UtimesNanoAt(unix.AT_FDCWD, full, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
		var s unix.Stat_t
		if err == nil {
			err = unix.Lstat(full, &s)
		}
		if err != nil {
			failed = errors.Join(failed, &os.PathError{Op: "settle", Path: full, Err: err})
			return git.IndexStat{}, false
		}
		return indexStat(&s), true
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return writeFile(b.index(), text)
}

// indexStat is what an index holds of a file.
func indexStat(s *unix.Stat_t) git.IndexStat {
	return git.IndexStat{
		CTime: git.IndexTime{Sec: uint32(s.Ctim.Sec), Nano: uint32(s.Ctim.Nsec)},
		MTime: git.IndexTime{Sec: uint32(s.Mtim.Sec), Nano: uint32(s.Mtim.Nsec)},
		Dev:   uint32(s.Dev), Inode: uint32(s.Ino), UID: s.Uid, GID: s.Gid, Size: uint32(s.Size),
	}
}

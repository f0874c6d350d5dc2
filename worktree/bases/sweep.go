package bases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
)

// SweepRequest bounds the space of the bases.
type SweepRequest struct {
	Bases  string // required; their folder
	Size   int64  // required; beyond it those that were not used for longest go, see [Limit]
	DryRun bool   // only report the removals
}

// Swept is a base that was removed, or would be.
type Swept struct {
	Path   string
	Commit git.Hash
	Used   time.Time // the last use; zero for a half-made base
	Size   int64     // bytes
}

// Sweep removes checkouts that many workspaces shared, and half-made checkouts
// of a crash. It keeps a checkout while a process works with it, and while a
// workspace that uses it exists, whoever made that. It leaves foreign files
// alone. It returns the removed checkouts, and an error if a removal fails or
// ctx ends.
func Sweep(ctx context.Context, r SweepRequest) ([]Swept, error) {
	return sweepBases(ctx, r, "")
}

// sweepBases is Sweep with a base that must stay.
func sweepBases(ctx context.Context, r SweepRequest, keep string) ([]Swept, error) {
	s := &baseSweep{SweepRequest: r, keep: keep}
	if err := s.sweep(ctx); err != nil {
		return s.gone, fmt.Errorf("sweep the bases: %w", err)
	}
	return s.gone, nil
}

type baseSweep struct {
	SweepRequest
	keep string
	gone []Swept
}

// found is a base in its folder.
type found struct {
	Swept
	under string
}

func (s *baseSweep) sweep(ctx context.Context) (err error) {
	// One process at a time: the files that another sweep is about to remove
	// are as good as gone.
	lock, err := tryBase(ctx, filepath.Join(s.Bases, ".sweep"))
	if disk.Missing(err) || errors.Is(err, unix.EWOULDBLOCK) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.Unlock(lock)) }()
	entries, err := os.ReadDir(s.Bases)
	if err != nil {
		return err
	}
	var all []found
	var total int64
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(s.Bases, e.Name())
		key, _, made := strings.Cut(e.Name(), newInfix)
		switch {
		case strings.HasPrefix(e.Name(), goneName):
			err = s.aside(ctx, strings.TrimSuffix(path, lockSuffix))
		case !baseForm().MatchString(key):
		case made:
			err = s.half(ctx, filepath.Join(s.Bases, key), path)
		case e.IsDir():
			f, ok := readFound(path)
			if ok {
				all = append(all, f)
				total += f.Size
			}
			if !s.DryRun {
				err = forsake(filepath.Join(path, usersName))
			}
		}
		if err != nil {
			return err
		}
	}
	return s.oldest(ctx, all, total)
}

// readFound reads the record of a base. It reports false for an incomplete
// base: the next process that makes it removes it.
func readFound(path string) (found, bool) {
	record, err := readBase(path)
	if err != nil {
		return found{}, false
	}
	at, err := os.Lstat(path)
	if err != nil {
		return found{}, false // another process was faster
	}
	return found{under: record.Under, Swept: Swept{
		Path: path, Commit: record.Commit, Used: at.ModTime(), Size: record.Size,
	}}, true
}

// oldest removes bases until the rest is within the size. A base below others
// was used whenever they were, and comes after them.
func (s *baseSweep) oldest(ctx context.Context, all []found, total int64) error {
	slices.SortStableFunc(all, func(a, b found) int {
		if d := a.Used.Compare(b.Used); d != 0 {
			return d
		}
		return strings.Compare(b.under, a.under) // a base that lies on another first
	})
	above := map[string]int{} // how many lie on a base
	for _, f := range all {
		above[f.under]++
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if total <= s.Size {
			return nil
		}
		if above[filepath.Base(f.Path)] > 0 || f.Path == s.keep {
			continue
		}
		went, err := s.remove(ctx, f)
		if err != nil {
			return err
		}
		if went {
			total -= f.Size
			above[f.under]--
			s.gone = append(s.gone, f.Swept)
		}
	}
	return nil
}

// remove removes a base that is not in use.
func (s *baseSweep) remove(ctx context.Context, f found) (went bool, err error) {
	lock, err := s.claim(ctx, f.Path)
	if lock == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, disk.Unlock(lock)) }()
	used, err := inUse(filepath.Join(f.Path, usersName))
	if used || err != nil {
		return false, err
	}
	if s.DryRun {
		return true, nil
	}
	// A crash half-way must not leave a folder that looks whole.
	gone, err := os.MkdirTemp(s.Bases, goneName)
	if err == nil {
		err = moveOut(f.Path, gone)
	}
	if err != nil {
		return false, err
	}
	// A process that waits for the lock finds that it has no name any more.
	return true, errors.Join(os.Remove(f.Path+lockSuffix), disk.RemoveAll(gone))
}

// moveOut moves a base to a folder of bases that are gone. An overlay does not rename
// folders of an image's layer: there the base is removed. Its record goes first, so that a
// crash half-way leaves no base that looks whole.
func moveOut(base, gone string) error {
	err := os.Rename(base, filepath.Join(gone, "base"))
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if err := os.Remove(filepath.Join(base, baseRecordName)); err != nil && !disk.Missing(err) {
		return err
	}
	return disk.RemoveAll(base)
}

// goneName is the prefix of the name of a base that is being removed.
const goneName = ".gone."

// claim takes the lock of a base alone; nil where another process holds it.
func (s *baseSweep) claim(ctx context.Context, dir string) (*os.File, error) {
	lock, err := tryBase(ctx, dir)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return lock, err
}

// inUse reports whether a workspace that stands on a base is there.
func inUse(users string) (bool, error) {
	entries, err := os.ReadDir(users)
	if disk.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		dir, err := os.Readlink(filepath.Join(users, e.Name()))
		if err != nil {
			return true, nil // an unknown file counts as a user
		}
		if _, err := os.Lstat(dir); !disk.Missing(err) {
			return true, nil
		}
	}
	return false, nil
}

// half removes a crash's half-made base, once no process makes it.
func (s *baseSweep) half(ctx context.Context, dir, path string) error {
	lock, err := s.claim(ctx, dir)
	if lock == nil || err != nil {
		return err
	}
	err = s.scrap(path)
	if !s.DryRun {
		if rm := os.Remove(dir + makingSuffix + lockSuffix); !disk.Missing(rm) {
			err = errors.Join(err, rm)
		}
	}
	if _, at := os.Lstat(dir); disk.Missing(at) && !s.DryRun {
		err = errors.Join(err, os.Remove(dir+lockSuffix))
	}
	return errors.Join(err, disk.Unlock(lock))
}

// aside removes a folder that is no base any more, once no process has it
// mounted.
func (s *baseSweep) aside(ctx context.Context, path string) error {
	if _, err := os.Lstat(path + lockSuffix); disk.Missing(err) {
		if _, err := os.Lstat(path); disk.Missing(err) {
			return nil // it went with the other of the two
		}
		return s.scrap(path)
	}
	lock, err := s.claim(ctx, path)
	if lock == nil || err != nil {
		return err
	}
	if _, at := os.Lstat(path); !disk.Missing(at) {
		err = s.scrap(path)
	}
	if err == nil && !s.DryRun {
		err = os.Remove(lock.Name())
	}
	return errors.Join(err, disk.Unlock(lock))
}

// scrap removes a folder that is no base any more, or never was a base.
func (s *baseSweep) scrap(path string) error {
	size, _ := disk.Use(path)
	gone := Swept{Path: path, Size: size}
	if !s.DryRun {
		if err := disk.RemoveAll(path); err != nil {
			return err
		}
	}
	s.gone = append(s.gone, gone)
	return nil
}

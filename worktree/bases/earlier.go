package bases

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/disk"
)

// maxEarlier is how many bases of earlier processes are looked at.
const maxEarlier = 3

// earlier finds a whole base that an earlier process made with the same
// configuration, so that a new base can lie on it. Without it a run after each
// commit would check the repository out again. It takes the last used base, and
// holds it; nil for none. It skips a base that is broken, that is being removed,
// or whose commit is gone from the repository.
func (s *Store) earlier(ctx context.Context, b *Base) (*Base, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	own, _, _ := strings.Cut(filepath.Base(b.dir), newInfix)
	_, configuration, _ := strings.Cut(own, "-")
	var all []Swept
	for _, e := range entries {
		if !e.IsDir() || !baseForm().MatchString(e.Name()) {
			continue
		}
		f, ok := readFound(filepath.Join(s.Dir, e.Name()))
		if ok && f.under == "" && e.Name() == string(f.Commit)+"-"+configuration {
			all = append(all, f.Swept)
		}
	}
	slices.SortFunc(all, func(a, b Swept) int { return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.Path, b.Path)) })
	for _, f := range all[:min(len(all), maxEarlier)] {
		found, err := s.holdEarlier(ctx, f)
		if found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// holdEarlier holds a base that is whole; nil where it cannot be held.
func (s *Store) holdEarlier(ctx context.Context, f Swept) (*Base, error) {
	if _, err := s.Repo.TreeOf(ctx, f.Commit); err != nil {
		return nil, ctx.Err() // its commit is gone
	}
	moment, cancel := context.WithTimeout(ctx, disk.ForkTime)
	defer cancel()
	lock, err := lockBase(moment, f.Path, unix.LOCK_SH)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, nil // it is being removed, or another program put a lock there
	}
	found := &Base{dir: f.Path, Commit: f.Commit, lock: lock, busy: 1, used: time.Now()}
	if _, err := found.whole(); err != nil || !disk.Named(lock) {
		return nil, disk.Unlock(lock)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[f.Commit] != nil { // another goroutine was first
		return nil, disk.Unlock(lock)
	}
	s.held[f.Commit] = found
	if err := s.letOld(); err != nil {
		found.busy--
		return nil, err
	}
	return found, nil
}

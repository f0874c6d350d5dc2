package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentswarm/worktree/git"
)

// moveRef moves the branch by compare-and-swap.
func (m *mover) moveRef(ctx context.Context) error {
	at, err := m.Repo.Ref(ctx, m.rec.Ref)
	if err != nil || at == m.rec.New {
		return err
	}
	if at != m.rec.Old {
		return &MovedError{Ref: m.rec.Ref, Want: m.rec.Old, Have: at}
	}
	if err := m.step("move the branch"); err != nil {
		return fmt.Errorf("move %s: %w", m.rec.Ref, err)
	}
	// From a checkout that stands on it, HEAD has a reflog too.
	repo := m.Repo
	if len(m.rec.Sides) > 0 && m.rec.Sides[0].present() {
		repo = m.seen(m.rec.Sides[0])
	}
	update := git.RefUpdate{Ref: m.rec.Ref, Old: m.rec.Old, New: m.rec.New}
	move := func() error { return repo.UpdateRefsHolding(ctx, m.locks.working, m.rec.Message, update) }
	err = move()
	var killed *git.Error
	if errors.As(err, &killed) && killed.Code < 0 {
		m.breakRefLocks(ctx)
		if at, rerr := m.Repo.Ref(ctx, m.rec.Ref); rerr == nil && at != m.rec.New {
			err = move()
		}
	}
	if err == nil {
		return nil
	}
	at, rerr := m.Repo.Ref(ctx, m.rec.Ref)
	switch {
	case rerr != nil:
		return errors.Join(err, rerr)
	case at == m.rec.New:
		return nil
	case at != m.rec.Old:
		return &MovedError{Ref: m.rec.Ref, Want: m.rec.Old, Have: at}
	}
	return err
}

// moveHead moves the HEAD of a submodule, or the branch that HEAD names, if it is
// where the transaction found it. A HEAD that the user moved meanwhile stays.
func (m *mover) moveHead(ctx context.Context, s *side) error {
	repo := m.seen(s)
	at, err := repo.Ref(ctx, s.Head)
	if err != nil || at == s.To {
		return err
	}
	if at != s.From {
		m.keep(s, []string{"HEAD"})
		return nil
	}
	if err := m.step("move the head of a submodule"); err != nil {
		return fmt.Errorf("move %s of %s: %w", s.Head, s.Dir, err)
	}
	return repo.UpdateRefsHolding(ctx, m.locks.working, m.rec.Message, git.RefUpdate{Ref: s.Head, Old: s.From, New: s.To})
}

// refLocks are the lock files that git makes while it moves the branch.
func (t *Tx) refLocks() []string {
	if t.rec.Ref == "" {
		return nil
	}
	locks := []string{
		filepath.Join(t.Repo.CommonDir, filepath.FromSlash(t.rec.Ref)+".lock"),
		filepath.Join(t.Repo.CommonDir, "HEAD.lock"),
		filepath.Join(t.Repo.CommonDir, "packed-refs.lock"),
	}
	for _, s := range t.rec.Sides {
		if s.GitDir != t.Repo.CommonDir {
			locks = append(locks, filepath.Join(s.GitDir, "HEAD.lock"))
		}
		if s.Head != "" && s.Head != "HEAD" {
			locks = append(locks, filepath.Join(s.Common, filepath.FromSlash(s.Head)+".lock"))
		}
	}
	return locks
}

// freeRefLocks are those of them that do not exist now. If they exist later, our
// git may have made them.
func (t *Tx) freeRefLocks() []string {
	var free []string
	for _, lock := range t.refLocks() {
		if _, err := os.Lstat(lock); os.IsNotExist(err) {
			free = append(free, lock)
		}
	}
	return free
}

// stillness is how long a lock must stay as it is before it counts as left
// behind. A git that works has a lock for milliseconds.
const stillness = 500 * time.Millisecond

// breakRefLocks removes the locks that a git of this transaction left when it
// was killed. The git is gone by now: it would hold the lock on working. A lock
// with another content than our git writes is not ours.
func (t *Tx) breakRefLocks(ctx context.Context) {
	found := map[string]os.FileInfo{}
	for _, lock := range t.rec.RefLocks {
		if info, err := os.Lstat(lock); err == nil && t.wroteLock(lock) {
			found[lock] = info
		}
	}
	if len(found) == 0 {
		return
	}
	select {
	case <-time.After(stillness):
	case <-ctx.Done():
		return
	}
	for lock, before := range found {
		now, err := os.Lstat(lock)
		if err == nil && os.SameFile(before, now) && now.ModTime().Equal(before.ModTime()) && t.wroteLock(lock) {
			_ = os.Remove(lock) // if it cannot be removed, moving the branch says so
		}
	}
}

// wroteLock reports whether a lock has the content of our git: no content, or the
// commit that the branch moves to.
func (t *Tx) wroteLock(lock string) bool {
	text, err := os.ReadFile(lock)
	if err != nil {
		return false
	}
	at := git.Hash(strings.TrimSpace(string(text)))
	return at == "" || at == t.rec.New ||
		slices.ContainsFunc(t.rec.Sides, func(s *side) bool { return s.Head != "" && at == s.To })
}

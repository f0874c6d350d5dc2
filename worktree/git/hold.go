package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const (
	// youngCommits is how many commits of the user's that no remote has are copied
	// below a commit that is held.
	youngCommits = 64
	// youngBytes is how much they may take on the disk.
	youngBytes = 8 << 20
	// hiddenCommits is how many commits are copied that no ref of the user's leads to.
	hiddenCommits = 1000
	// maxBounds is how many commits may be pinned for a commit whose young history
	// is copied. A history with more ends is not copied.
	maxBounds = 4
)

// hold protects the commits of a run, and their history, from the user's git
// housekeeping.
//
// Commits that only swarm names are in packs with a .keep file. So are the latest
// commits of the user, who may amend or rebase them. The commits that they are built
// upon are pinned in the repository.
func (s *refStore) hold(ctx context.Context, run string, commits ...Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.make(); err != nil {
		return err
	}
	missing, err := s.unheld(ctx, run, commits)
	if err != nil {
		return err
	}
	stand, err := s.pinsStand()
	if err != nil || stand && len(missing) == 0 {
		return err
	}
	return s.locked(func() error {
		if !stand {
			if err := s.pinAgain(ctx); err != nil {
				return err
			}
		}
		for _, c := range missing {
			switch err := s.holdOne(ctx, run, c); {
			case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
				return &ReadOnlyError{Dir: s.user.CommonDir, Err: err}
			case err != nil:
				return fmt.Errorf("protect commit %s from the housekeeping of git: %w", c.Short(), err)
			}
			s.known[run][c] = true
		}
		return s.joinMany(ctx, manyPacks)
	})
}

// pinAgain makes pins again that were removed.
func (s *refStore) pinAgain(ctx context.Context) error {
	k, err := s.holdings(ctx)
	if err == nil {
		_, err = s.settle(ctx, k.roots(func(string) bool { return true }))
	}
	return err
}

// unheld are the commits that are not held for a run.
func (s *refStore) unheld(ctx context.Context, run string, commits []Hash) (missing []Hash, err error) {
	for _, c := range commits {
		if c == "" || s.known[run][c] {
			continue
		}
		if s.known[run] == nil {
			if err := s.learn(ctx, run); err != nil {
				return nil, err
			}
		}
		if !s.known[run][c] {
			missing = append(missing, c)
		}
	}
	return missing, nil
}

// learn finds out which commits are held for a run.
func (s *refStore) learn(ctx context.Context, run string) error {
	refs, err := s.under(ctx, OwnRefs+run+"/")
	if err != nil {
		return err
	}
	needed, err := s.neededBy(run)
	if err != nil {
		return err
	}
	known := map[Hash]bool{}
	for _, at := range refs {
		known[at] = true
	}
	for _, at := range needed {
		known[at] = true
	}
	s.known[run] = known
	return nil
}

// holdOne holds a commit for a run.
func (s *refStore) holdOne(ctx context.Context, run string, commit Hash) error {
	bounds, err := s.boundsOf(ctx, commit)
	if err == nil {
		err = s.copyAbove(ctx, run, []Hash{commit}, bounds)
	}
	if unreadable(err) {
		// Its history is damaged. The pin keeps all that is left of it.
		bounds, err = []Hash{commit}, nil
	}
	if err != nil {
		return err
	}
	there, err := s.present(ctx, bounds)
	if err != nil {
		return err
	}
	if len(there) < len(bounds) {
		return errors.New("the repository has no such commit")
	}
	s.step("copied")
	pins, err := s.pins()
	if err != nil {
		return err
	}
	if err := s.setPins(ctx, s.highest(ctx, append(standing(pins), bounds...))); err != nil {
		return err
	}
	s.step("pinned")
	return s.need(run, commit)
}

// boundsOf are the commits to be pinned for a commit: the closest ones in its history
// that we need no copy of.
func (s *refStore) boundsOf(ctx context.Context, commit Hash) ([]Hash, error) {
	bounds, err := s.ends(ctx, []Hash{commit})
	if err != nil || len(bounds) == 0 {
		return bounds, err
	}
	// No ref of the user's leads to these. As pins they would show.
	hidden, err := s.parents(ctx, bounds, "--not", "HEAD")
	if unreadable(err) || err == nil && len(hidden) > 0 { // HEAD may be unborn
		hidden, err = s.parents(ctx, bounds, "--max-count="+strconv.Itoa(hiddenCommits+1), "--not", "--exclude="+OwnRefs+"*", "--glob=refs/*")
	}
	if err != nil || len(hidden) > hiddenCommits {
		return bounds, err
	}
	bounds = outside(bounds, hidden)
	young, err := s.parents(ctx, bounds, "--max-count="+strconv.Itoa(youngCommits), "--not", "--remotes")
	if err != nil || len(young) == 0 {
		return bounds, ignoreUnreadable(err)
	}
	below := s.highest(ctx, outside(bounds, young))
	small, err := s.small(ctx, bounds, below)
	if err != nil || !small || len(below) > maxBounds {
		return bounds, ignoreUnreadable(err)
	}
	return below, nil
}

// ends are the closest commits in the history of commits that are in none of our packs.
func (s *refStore) ends(ctx context.Context, commits []Hash) ([]Hash, error) {
	own, err := s.ownObjects()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(commits, func(c Hash) bool { return own[c] }) {
		return commits, nil
	}
	above, err := s.ownParents(ctx, own)
	if err != nil {
		return nil, err
	}
	var ends []Hash
	seen := map[Hash]bool{}
	for todo := slices.Clone(commits); len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[c] {
			continue
		}
		seen[c] = true
		if parents, ours := above[c]; ours {
			todo = append(todo, parents...)
		} else {
			ends = append(ends, c)
		}
	}
	return ends, nil
}

// ownParents maps the commits of our packs to their parents.
func (s *refStore) ownParents(ctx context.Context, own map[Hash]bool) (map[Hash][]Hash, error) {
	var in bytes.Buffer
	for id := range own {
		in.WriteString(string(id) + "\n")
	}
	out, err := s.user.Run(ctx, Cmd{
		Args: []string{"cat-file", "--batch-check=%(objecttype) %(objectname)"}, Stdin: &in, Env: untouched(),
	})
	if err != nil {
		return nil, err
	}
	var commits []Hash
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "commit "); ok {
			commits = append(commits, Hash(id))
		}
	}
	return s.parents(ctx, commits, "--no-walk=unsorted")
}

// parents walks the history of commits, with more arguments for git, and maps each
// commit that it lists to its parents.
func (s *refStore) parents(ctx context.Context, commits []Hash, args ...string) (map[Hash][]Hash, error) {
	all := map[Hash][]Hash{}
	if len(commits) == 0 {
		return all, nil
	}
	// The input comes first, so that no "--not" of the arguments is for it.
	out, err := s.revList(ctx, lines(commits), append([]string{"--parents"}, args...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		var ids []Hash
		for id := range strings.FieldsSeq(line) {
			ids = append(ids, Hash(id))
		}
		if len(ids) > 0 {
			all[ids[0]] = ids[1:]
		}
	}
	return all, nil
}

// outside are the commits, and the parents of those that are listed, which are not
// listed themselves.
func outside(commits []Hash, listed map[Hash][]Hash) []Hash {
	var out []Hash
	add := func(ids []Hash) {
		for _, id := range ids {
			if _, in := listed[id]; !in && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	add(commits)
	for _, parents := range listed {
		add(parents)
	}
	slices.Sort(out)
	return out
}

// highest returns the commits that are in the history of no other commit of the list.
// It returns the whole list if git cannot tell.
func (s *refStore) highest(ctx context.Context, commits []Hash) []Hash {
	slices.Sort(commits)
	commits = slices.Compact(commits)
	if len(commits) < 2 {
		return commits
	}
	args := []string{"merge-base", "--independent"}
	for _, c := range commits {
		args = append(args, string(c))
	}
	out, err := s.user.Run(ctx, Cmd{Args: args, Env: untouched()})
	if err != nil {
		return commits
	}
	var some []Hash
	for id := range strings.FieldsSeq(string(out)) {
		some = append(some, Hash(id))
	}
	slices.Sort(some)
	return some
}

// small reports whether the objects above bounds take little space.
func (s *refStore) small(ctx context.Context, commits, bounds []Hash) (bool, error) {
	out, err := s.revList(ctx, lines(commits)+excluded(bounds), "--objects", "--disk-usage")
	if err != nil {
		return false, err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return size <= youngBytes, err
}

// copyAbove copies objects of commits and their history into a pack that is kept for a
// run. It omits objects in our packs and in the history of bounds.
func (s *refStore) copyAbove(ctx context.Context, run string, commits, bounds []Hash) error {
	needed, err := s.objectsAbove(ctx, commits, bounds)
	if err != nil || len(needed) == 0 {
		return err
	}
	own, err := s.ownObjects()
	if err != nil {
		return err
	}
	needed = slices.DeleteFunc(needed, func(id Hash) bool { return own[id] })
	if len(needed) == 0 {
		return nil
	}
	return s.packFor(ctx, needed, []string{run})
}

// objectsAbove lists the objects of commits and their history that are not in the
// history of bounds. It may list a few that are.
func (s *refStore) objectsAbove(ctx context.Context, commits, bounds []Hash) ([]Hash, error) {
	commits = slices.DeleteFunc(slices.Clone(commits), func(c Hash) bool { return slices.Contains(bounds, c) })
	if len(commits) == 0 {
		return nil, nil
	}
	out, err := s.revList(ctx, lines(commits)+excluded(bounds), "--objects", "--no-object-names", "--missing=allow-promisor")
	if err != nil {
		return nil, err
	}
	var ids []Hash
	for name := range bytes.FieldsSeq(out) {
		ids = append(ids, Hash(name))
	}
	return ids, nil
}

// untouched has git see the history as housekeeping does, without replacements, and fetch
// nothing.
func untouched() []string { return append(offline(), "GIT_NO_REPLACE_OBJECTS=1") }

// revList runs rev-list.
func (s *refStore) revList(ctx context.Context, in string, args ...string) ([]byte, error) {
	return s.user.Run(ctx, Cmd{
		Args:  append([]string{"rev-list", "--stdin"}, args...),
		Stdin: strings.NewReader(in), Env: untouched(),
	})
}

func lines(ids []Hash) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(string(id) + "\n")
	}
	return b.String()
}

func excluded(ids []Hash) string {
	var b strings.Builder
	for _, id := range ids {
		b.WriteString("^" + string(id) + "\n")
	}
	return b.String()
}

// unreadable reports whether git ended for want of an object, and not of space.
func unreadable(err error) bool {
	var bad *Error
	return errors.As(err, &bad) && bad.Code >= 0 &&
		!errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, syscall.EROFS)
}

func ignoreUnreadable(err error) error {
	if unreadable(err) {
		return nil
	}
	return err
}

// neededDir is the folder of the commits that are held for a run: empty files with their
// names.
func (s *refStore) neededDir(run string) string { return filepath.Join(s.refs.GitDir, "needed", run) }

// need records that a commit is held for a run.
func (s *refStore) need(run string, commit Hash) error {
	dir := s.neededDir(run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(replaceText(filepath.Join(dir, string(commit)), ""), syncDir(dir), syncDir(filepath.Dir(dir)))
}

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keepAge is the minimum age of a mark that is released although its run has no ref. A
// younger mark may belong to a run or a capture that begins.
const keepAge = 24 * time.Hour

// ReleaseRequest names the runs whose objects are kept no longer.
type ReleaseRequest struct {
	Runs []string  // runs whose refs were deleted just now
	Now  time.Time // required
}

// ReleasePacks lets git's housekeeping remove objects that only runs without refs needed.
// It removes pins, and .keep files of packs. The packs stay: git decides about them.
// Without [Repo.HideRefs] it has no effect.
func (r *Repo) ReleasePacks(ctx context.Context, q ReleaseRequest) error {
	s := r.own
	if s == nil || !s.refs.Exists() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.locked(func() error {
		if err := s.release(ctx, q); err != nil {
			return err
		}
		return s.joinMany(ctx, manyPacks)
	})
	if err != nil {
		return fmt.Errorf("release packs: %w", err)
	}
	return nil
}

// holdings are all that a refStore keeps.
type holdings struct {
	refs   map[string]Hash // below OwnRefs, also those that older versions made
	own    map[string]Hash // those of them that are not in the repository
	needed map[string][]Hash
	packs  []*keepFile
	pins   []pin
}

func (s *refStore) holdings(ctx context.Context) (k holdings, err error) {
	if k.own, err = s.refs.RefsUnder(ctx, OwnRefs); err != nil {
		return k, err
	}
	if k.refs, err = s.under(ctx, OwnRefs); err != nil {
		return k, err
	}
	runs, err := os.ReadDir(filepath.Dir(s.neededDir("run")))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k.needed = map[string][]Hash{}
	for _, e := range runs {
		if k.needed[e.Name()], err = s.neededBy(e.Name()); err != nil {
			return k, err
		}
	}
	id, err := s.storeIDLocked()
	if err != nil {
		return k, err
	}
	if k.packs, err = s.keepFiles(id); err != nil {
		return k, err
	}
	k.pins, err = s.pins()
	return k, err
}

// neededBy are the commits that are held for a run, besides its refs.
func (s *refStore) neededBy(run string) ([]Hash, error) {
	entries, err := os.ReadDir(s.neededDir(run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var commits []Hash
	for _, e := range entries {
		if isHex(e.Name(), s.user.hexLen()) {
			commits = append(commits, Hash(e.Name()))
		}
	}
	return commits, nil
}

func (s *refStore) release(ctx context.Context, q ReleaseRequest) error {
	clear(s.known)
	k, err := s.holdings(ctx)
	if err != nil {
		return err
	}
	if err := s.removeLeft(q); err != nil {
		return err
	}
	live := s.live(k, q)
	if stale, err := s.stale(k, live); err != nil || !stale {
		return err
	}
	roots := k.roots(func(run string) bool { return live[run] })
	needed, err := s.settle(ctx, roots)
	if err != nil || needed == nil {
		return err
	}
	s.step("settled")
	for run := range k.needed {
		if !live[run] {
			if err := os.RemoveAll(s.neededDir(run)); err != nil {
				return err
			}
		}
	}
	s.step("forgot")
	for _, p := range k.packs {
		if err := s.releasePack(ctx, p, releasing{live: live, needed: needed, before: q.Now.Add(-keepAge)}); err != nil {
			return err
		}
		s.step("released")
	}
	if len(roots) == 0 {
		// Git removes the folder with the last worktree, too.
		_ = os.Remove(s.worktrees())
	}
	return nil
}

// live are the runs whose commits stay held: they have refs, or may begin right now.
func (s *refStore) live(k holdings, q ReleaseRequest) map[string]bool {
	live := map[string]bool{}
	for ref := range k.refs {
		live[runOf(ref)] = true
	}
	young := func(run, path string) {
		at, err := os.Stat(path)
		if err == nil && at.ModTime().After(q.Now.Add(-keepAge)) && !slices.Contains(q.Runs, run) {
			live[run] = true
		}
	}
	for run := range k.needed {
		young(run, s.neededDir(run))
	}
	for _, p := range k.packs {
		for _, run := range p.runs {
			if run != anyRun {
				young(run, p.stem+".keep")
			}
		}
	}
	return live
}

// roots are the commits of runs that must stay whole. Refs that older versions made in
// the repository are not among them: they hold their commits themselves.
func (k holdings) roots(live func(run string) bool) []Hash {
	var roots []Hash
	for ref, at := range k.own {
		if live(runOf(ref)) {
			roots = append(roots, at)
		}
	}
	for run, commits := range k.needed {
		if live(run) {
			roots = append(roots, commits...)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// stale reports whether more is kept than runs need, or less.
func (s *refStore) stale(k holdings, live map[string]bool) (bool, error) {
	for run := range k.needed {
		if !live[run] {
			return true, nil
		}
	}
	for _, p := range k.packs {
		for _, run := range p.runs {
			if !live[run] && (run != anyRun || len(live) == 0) {
				return true, nil
			}
		}
	}
	listed, err := s.listed()
	return len(standing(k.pins)) != len(k.pins) || !slices.Equal(standing(k.pins), listed), err
}

// settle pins exactly those commits that roots are built upon. It copies objects that
// roots need and that neither a pin nor one of our packs would hold. It returns the
// objects of roots that no pin holds. If a root has lost an object these are unknown: the
// result is nil, and no pin is removed.
func (s *refStore) settle(ctx context.Context, roots []Hash) (needed map[Hash]bool, err error) {
	bounds, err := s.ends(ctx, roots)
	if err != nil {
		return nil, err
	}
	if bounds, err = s.present(ctx, bounds); err != nil {
		return nil, err
	}
	bounds = s.highest(ctx, bounds)
	err = s.copyAbove(ctx, anyRun, roots, bounds)
	var ids []Hash
	if err == nil {
		ids, err = s.objectsAbove(ctx, roots, bounds)
	}
	if unreadable(err) {
		pins, err := s.pins()
		if err != nil {
			return nil, err
		}
		return nil, s.setPins(ctx, s.highest(ctx, append(bounds, standing(pins)...)))
	}
	if err != nil {
		return nil, err
	}
	needed = make(map[Hash]bool, len(ids))
	for _, id := range ids {
		needed[id] = true
	}
	return needed, s.setPins(ctx, bounds)
}

// releasing says which packs are released.
type releasing struct {
	live   map[string]bool
	needed map[Hash]bool
	before time.Time // younger packs of several runs stay: captures may go on
}

// releasePack releases a pack if a run that needed it has gone. It first puts the objects
// that other runs need into another pack.
func (s *refStore) releasePack(ctx context.Context, k *keepFile, r releasing) error {
	var stay []string
	for _, run := range k.runs {
		if r.live[run] {
			stay = append(stay, run)
		}
	}
	if len(k.runs) == 0 || len(stay) == len(k.runs) || len(stay) > 0 && k.younger(r.before) {
		return nil
	}
	ids, err := packNames(k.stem, s.user.hexLen()/2)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was joined with others
	}
	if err != nil {
		return err
	}
	all := len(ids)
	ids = slices.DeleteFunc(ids, func(id Hash) bool { return !r.needed[id] })
	if slices.Contains(k.runs, anyRun) && len(stay) == len(k.runs)-1 && len(ids) > all/2 {
		return nil // most of it is needed
	}
	if len(ids) > 0 {
		if err := s.packFor(ctx, ids, append(stay, anyRun)); err != nil {
			return err
		}
	}
	return k.drop()
}

// removeLeft removes the files of processes that were killed while they made a pack: a
// pack without an index, which no git reads, and folders of the state.
func (s *refStore) removeLeft(q ReleaseRequest) error {
	id, err := s.storeIDLocked()
	if err != nil {
		return err
	}
	keeps, err := filepath.Glob(filepath.Join(globEscape(s.packDir()), "*.keep"))
	if err != nil {
		return err
	}
	for _, path := range keeps {
		stem := stemOf(path)
		if _, err := os.Lstat(stem + ".idx"); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		k, err := readKeep(stem, id)
		if err != nil {
			return err
		}
		// A pack for any run is made under the lock only.
		gone := slices.Contains(k.runs, anyRun) ||
			!slices.ContainsFunc(k.runs, func(run string) bool { return !slices.Contains(q.Runs, run) })
		if len(k.runs) == 0 || len(k.others) > 0 || !gone && k.younger(q.Now.Add(-keepAge)) {
			continue
		}
		if err := removeFiles(stem+".pack", path); err != nil {
			return err
		}
	}
	left, err := filepath.Glob(filepath.Join(globEscape(s.refs.GitDir), packing+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir)) // packs are made there under the lock only
	}
	return err
}

// younger reports whether the .keep file was written after a time.
func (k *keepFile) younger(than time.Time) bool {
	at, err := os.Stat(k.stem + ".keep")
	return err == nil && at.ModTime().After(than)
}

// drop takes our lines out of the .keep file, and the file away if no other is in it.
func (k *keepFile) drop() error {
	if len(k.others) > 0 {
		return replaceText(k.stem+".keep", string(k.others)+"\n")
	}
	return removeFiles(k.stem + ".keep")
}

// present are the commits that the repository has.
func (s *refStore) present(ctx context.Context, commits []Hash) ([]Hash, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	out, err := s.user.Run(ctx, Cmd{
		Args:  []string{"cat-file", "--batch-check=%(objecttype) %(objectname)"},
		Stdin: strings.NewReader(lines(commits)), Env: untouched(),
	})
	if err != nil {
		return nil, err
	}
	var some []Hash
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "commit "); ok {
			some = append(some, Hash(id))
		}
	}
	return some, nil
}

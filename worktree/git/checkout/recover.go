package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"agentswarm/worktree/git"
)

// Outcome is the end of a transaction.
type Outcome struct {
	ID, Verb string
	Ref      string // empty: no branch was to move
	Old, New git.Hash
	Dirs     []string // the checkouts
	// Happened is set where branch, index and files are all new; else all of
	// them are old.
	Happened bool
	// Begun is set where the renames had begun.
	Begun bool
	// Kept are paths that the user changed meanwhile.
	Kept []Kept
	// Files are the identities of the files that changed, of the first checkout.
	// They are there where the transaction happened.
	Files map[string]Identity
}

// RecoverRequest says where transactions may have been cut off.
type RecoverRequest struct {
	Records string    // as in [Request]; required
	Repo    *git.Repo // required
	Step    func(name string) error
}

// Recover ends the transactions whose process died, and returns those that it
// ended. Each is completed where that is possible, and rolled back where a path
// changed meanwhile or the branch is elsewhere. It does nothing while another
// process has a transaction in progress. After renames the outcome stays until
// [Forget].
func Recover(ctx context.Context, r RecoverRequest) ([]Outcome, error) {
	dirs, err := all(r.Records)
	if err != nil || len(dirs) == 0 {
		return nil, err
	}
	l, err := try(ctx, r.Records)
	if errors.Is(err, errTaken) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ended, err := recoverAll(ctx, r, l)
	return ended, errors.Join(err, l.close())
}

// Lookup is the outcome of a transaction that has ended and was not forgotten;
// nil where there is none.
func Lookup(records, id string) (*Outcome, error) {
	rec, err := load(folderOf(records, id))
	if err != nil || rec == nil || rec.Phase != done && rec.Phase != undone {
		return nil, err
	}
	return rec.outcome(true), nil
}

// Ended lists the transactions that have ended and were not forgotten, by ID. It
// passes over records that cannot be read, and returns them.
func Ended(records string) (ids []string, unreadable []*RecordError, err error) {
	dirs, err := all(records)
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range dirs {
		rec, err := load(dir)
		var bad *RecordError
		switch {
		case errors.As(err, &bad):
			unreadable = append(unreadable, bad)
		case err != nil:
			return nil, nil, err
		case rec != nil && (rec.Phase == done || rec.Phase == undone):
			ids = append(ids, rec.ID)
		}
	}
	return ids, unreadable, nil
}

func (r *record) outcome(begun bool) *Outcome {
	o := &Outcome{
		ID: r.ID, Verb: r.Verb, Ref: r.Ref, Old: r.Old, New: r.New,
		Happened: r.Phase == done, Begun: begun, Kept: r.Kept,
	}
	for _, s := range r.Sides {
		o.Dirs = append(o.Dirs, s.Dir)
	}
	if o.Happened && len(r.Sides) > 0 {
		o.Files = r.Sides[0].identities()
	}
	return o
}

// recoverAll ends the transactions that were cut off, under the locks.
func recoverAll(ctx context.Context, r RecoverRequest, l *locks) (ended []Outcome, err error) {
	dirs, err := all(r.Records)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		o, rerr := recoverOne(ctx, r, l, dir)
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("end transaction %s, which was cut off: %w", idOf(dir), rerr))
		}
		if o != nil {
			ended = append(ended, *o)
		}
	}
	return ended, err
}

func recoverOne(ctx context.Context, r RecoverRequest, l *locks, dir string) (*Outcome, error) {
	rec, err := load(dir)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, os.RemoveAll(dir) // it died before its first record
	}
	t := &Tx{
		Request: Request{Records: r.Records, ID: rec.ID, Verb: rec.Verb, Repo: r.Repo, Ref: rec.Ref, Step: r.Step},
		dir:     dir, rec: *rec, locks: l,
	}
	m := t.mover()
	switch rec.Phase {
	case staging:
		if err := t.Abort(); err != nil {
			return nil, err
		}
		return rec.outcome(false), nil
	case done, undone:
		return nil, m.tidyLeft()
	case moving:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		if err := m.end(ctx); err != nil && !m.ended {
			return nil, err
		}
		return m.rec.outcome(true), nil
	}
	panic(fmt.Sprintf("unhandled phase %q", rec.Phase))
}

// tidyLeft is tidy where there may be something left.
func (m *mover) tidyLeft() error {
	for _, s := range m.rec.Sides {
		if s.untidy(m.ID) {
			return m.tidy()
		}
	}
	return nil
}

func (s *side) untidy(id string) bool {
	paths := []string{s.own(id, "lock")}
	for _, kind := range ownFiles() {
		paths = append(paths, s.own(id, kind))
	}
	for _, mount := range append([]name{"."}, s.Mounts...) {
		paths = append(paths, filepath.Join(s.Dir, string(mount), stageName(id)))
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}

// end completes a transaction whose renames had begun, or rolls it back.
func (m *mover) end(ctx context.Context) error {
	for _, s := range m.rec.Sides {
		if s.Index && s.present() && !s.locked(m.ID) { // the user removed it
			if err := s.lockIndex(m.ID); err != nil {
				return err
			}
		}
	}
	if m.rec.Ref != "" {
		m.breakRefLocks(ctx)
		at, err := m.Repo.Ref(ctx, m.rec.Ref)
		if err != nil {
			return err
		}
		if at != m.rec.Old {
			if m.branchMoved, err = m.passed(ctx, at); err != nil {
				return err
			}
		}
		away, err := m.away(ctx)
		if err != nil {
			return err
		}
		if !m.branchMoved && (at != m.rec.Old || len(away) > 0) {
			return m.back(ctx)
		}
		for _, s := range away {
			if err := m.leave(s); err != nil {
				return err
			}
		}
	}
	// Once the branch has moved, paths of the user's stay and the rest follows.
	m.yield = m.branchMoved
	err := m.forward(ctx)
	if err == nil || m.ended || m.branchMoved {
		return err
	}
	var dirty *git.DirtyError
	if errors.As(err, &dirty) {
		m.keepDirty(dirty)
	}
	if berr := m.back(ctx); berr != nil {
		return errors.Join(err, berr)
	}
	return nil
}

// away lists the checkouts that do not stand on the branch any more.
func (m *mover) away(ctx context.Context) ([]*side, error) {
	holders, err := m.Repo.Holders(ctx, m.rec.Ref)
	if err != nil {
		return nil, err
	}
	stands := map[string]bool{}
	for _, h := range holders {
		stands[h.Repo.GitDir] = true
	}
	var away []*side
	for _, s := range m.rec.Sides {
		parent := s.GitDir
		if s.Parent != "" {
			parent = s.Parent
		}
		if !stands[parent] && s.present() {
			away = append(away, s)
		}
	}
	return away, nil
}

// leave puts the files of a checkout back that the transaction goes on without.
func (m *mover) leave(s *side) error {
	if err := m.putBack(s); err != nil {
		return err
	}
	if err := m.saveAsides(s); err != nil {
		return err
	}
	m.rec.Sides = slices.DeleteFunc(m.rec.Sides, func(other *side) bool { return other == s })
	return s.clear(m.ID)
}

func (m *mover) keepDirty(dirty *git.DirtyError) {
	for _, s := range m.rec.Sides {
		if s.Dir == dirty.Dir {
			m.keep(s, dirty.Paths)
		}
	}
}

// passed reports whether the branch, which is not at its old commit, is at the
// new commit or has come from there.
func (m *mover) passed(ctx context.Context, at git.Hash) (bool, error) {
	if at == m.rec.New {
		return true, nil
	}
	return Passed(ctx, m.Repo, Move{Old: m.rec.Old, New: m.rec.New, Now: at})
}

// Move is where a branch was, where it was to go, and where it is.
type Move struct{ Old, New, Now git.Hash }

// Passed reports whether a branch that is elsewhere by now went through a move:
// its history has the new commit, and the old commit only if the history of the
// new commit has it.
func Passed(ctx context.Context, repo *git.Repo, m Move) (bool, error) {
	if m.Now == "" || m.New == "" {
		return false, nil
	}
	reached, err := repo.Contains(ctx, m.Now, m.New)
	if err != nil || !reached || m.Old == "" {
		return reached, err
	}
	old, err := repo.Contains(ctx, m.Now, m.Old)
	if err != nil || !old {
		return err == nil, err
	}
	return repo.Contains(ctx, m.New, m.Old)
}

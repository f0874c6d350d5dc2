package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"agentswarm/worktree/git"
)

// Request describes a transaction.
type Request struct {
	// Records is the folder of the records, outside of the repository. Required.
	Records string
	// ID names the record: letters, digits, dots and dashes. Required.
	ID   string
	Verb string    // the name of the command, for messages
	Repo *git.Repo // required

	// Ref moves from Old to New; empty: no branch moves. An empty Old makes it,
	// an empty New deletes it.
	Ref      string
	Old, New git.Hash
	Message  string // for reflogs; required with Ref

	// Step, where set, is called before each write to the disk. An error from
	// it stands for the failure of that write.
	Step func(name string) error
}

// Side is a checkout whose files change.
type Side struct {
	Repo     *git.Repo // seen from that checkout; required
	From, To git.Hash  // commits or trees; empty: the empty tree
	// Changes lead from From to To. Required.
	Changes []git.Change
	// Index is set where the index of the checkout follows its files.
	Index bool
	// AnyIndex is set where staged changes of the user do not matter.
	AnyIndex bool
	// Env is added to the environment of the gits that read From and To.
	Env []string
	// Parent is set for the checkout of a submodule: the git dir of the checkout
	// that holds it. Head is the ref of the submodule that moves from From to To once
	// the branch has moved: "HEAD", or the branch that HEAD names.
	Parent, Head string
}

// Tx is a transaction in progress. A repository has at most one at a time.
type Tx struct {
	Request
	dir   string // of the record
	rec   record
	locks *locks
}

// idRule is the form of an ID.
var idRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// Begin waits for its turn in the repository, ends the transactions whose
// process died, and records the new transaction. The caller must call
// [Tx.Close].
func Begin(ctx context.Context, r Request) (_ *Tx, err error) {
	if !idRule.MatchString(r.ID) {
		return nil, fmt.Errorf("begin a transaction: %q cannot be its name", r.ID)
	}
	if err := os.MkdirAll(r.Records, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t := &Tx{Request: r, dir: folderOf(r.Records, r.ID)}
	if t.locks, err = wait(ctx, r.Records); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.locks.close())
		}
	}()
	if _, err := recoverAll(ctx, RecoverRequest{Records: r.Records, Repo: r.Repo, Step: r.Step}, t.locks); err != nil {
		return nil, err
	}
	t.rec = record{
		ID: r.ID, Verb: r.Verb, Phase: staging, Ref: r.Ref, Old: r.Old, New: r.New, Message: r.Message,
	}
	if err := t.step("record the begin"); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	if err := t.rec.save(t.dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(t.dir))
	}
	return t, nil
}

// step announces a write; tests fail or end the process there.
func (t *Tx) step(what string) error {
	if t.Step == nil {
		return nil
	}
	return t.Step("checkout " + what)
}

// Scratch is a folder for files of the caller. It is there until the record is
// removed.
func (t *Tx) Scratch() string { return t.dir }

// Add adds a checkout to the transaction. It returns a [*git.DirtyError] if a
// path that is to change differs from From. It changes no file.
func (t *Tx) Add(ctx context.Context, r Side) error {
	s := &side{
		Dir: r.Repo.TopLevel, GitDir: r.Repo.GitDir, From: r.From, To: r.To, Index: r.Index,
		changes: r.Changes, env: r.Env, Parent: r.Parent, Head: r.Head,
	}
	if r.Parent != "" {
		s.Common = r.Repo.CommonDir
	}
	// The identities come first. A file that changes between them and git's check
	// is found by its rename.
	for _, c := range r.Changes {
		p := &pathing{Path: name(c.Path), Old: Absent}
		if c.OldMode != git.Gitlink {
			var err error
			if p.Old, err = fileAt(s.at(p.Path)); err != nil {
				return fmt.Errorf("look at the files of %s: %w", s.Dir, err)
			}
		}
		s.Paths = append(s.Paths, p)
	}
	err := r.Repo.CheckMove(ctx, git.CheckRequest{
		From: r.From, Changes: r.Changes, Scratch: t.dir, AnyIndex: r.AnyIndex,
	})
	if err != nil {
		return err
	}
	t.rec.Sides = append(t.rec.Sides, s)
	return nil
}

// Prepare writes the new contents into staging folders and locks the indexes.
// After an error nothing of it is left.
func (t *Tx) Prepare(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Abort())
		}
	}()
	if err := t.step("record the staging folders"); err != nil {
		return err
	}
	if err := t.rec.save(t.dir); err != nil {
		return err
	}
	for i, s := range t.rec.Sides {
		if err := t.stage(ctx, i, s); err != nil {
			return err
		}
	}
	return nil
}

// Abort removes all that was staged, and the record. It must not follow
// [Tx.Commit].
func (t *Tx) Abort() error {
	if t.rec.Phase != staging {
		return nil
	}
	var err error
	for _, s := range t.rec.Sides {
		err = errors.Join(err, s.clear(t.ID))
	}
	if err == nil {
		err = os.RemoveAll(t.dir)
	}
	return err
}

// Close lets the next transaction begin. It aborts a transaction that was not
// committed.
func (t *Tx) Close() error { return errors.Join(t.Abort(), t.locks.close()) }

// endTime is how long the end of a transaction may take once it has begun.
const endTime = 10 * time.Minute

// Commit renames the files, moves the branch and installs the indexes. Where
// something fails before the branch has moved, all of it goes back: the error is
// a [*git.DirtyError] for a path that changed meanwhile, a [*MovedError] for a
// branch that did, or a [*WriteError]. After success the record stays until
// [Forget], so that the caller can journal the outcome first.
func (t *Tx) Commit(ctx context.Context) error {
	// A commit that has begun is not cancelled.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	t.rec.Phase, t.rec.RefLocks = moving, t.freeRefLocks()
	if err := t.step("record the renames"); err != nil {
		t.rec.Phase = staging
		return errors.Join(err, t.Abort())
	}
	if err := t.rec.save(t.dir); err != nil {
		// It may be on the disk all the same.
		return t.mover().takeBack(ctx, err)
	}
	m := t.mover()
	err := m.forward(ctx)
	switch {
	case m.ended: // the next transaction removes files that are left
		return nil
	case m.branchMoved:
		return &OpenError{Err: err, Moved: true}
	}
	return m.takeBack(ctx, err)
}

// takeBack puts everything back after an error, and removes the record.
func (m *mover) takeBack(ctx context.Context, cause error) error {
	err := m.back(ctx)
	switch {
	case err == nil:
		return errors.Join(cause, os.RemoveAll(m.dir))
	case m.ended:
		return cause
	}
	return &OpenError{Err: errors.Join(cause, err)}
}

// OpenError says that a transaction could neither be completed nor rolled back
// for now. The next command that finds its record ends it: see [Recover].
type OpenError struct {
	Err   error // required
	Moved bool  // the branch has moved, and it is going to be completed
}

func (e *OpenError) Error() string {
	if e.Moved {
		return fmt.Sprintf("the branch has moved and its checkout has not followed: %v", e.Err)
	}
	return fmt.Sprintf("the files could not be put back: %v", e.Err)
}

func (e *OpenError) Unwrap() error { return e.Err }

// Hint tells the user how to go on.
func (e *OpenError) Hint() string {
	return "the next command of swarm in this repository puts the checkout in order"
}

// Identities are those of the files of a checkout after the transaction, by path.
func (t *Tx) Identities(i int) map[string]Identity { return t.rec.Sides[i].identities() }

func (s *side) identities() map[string]Identity {
	files := make(map[string]Identity, len(s.Paths))
	for _, p := range s.Paths {
		files[string(p.Path)] = p.New
	}
	return files
}

// Forget removes the record of a transaction that has ended, once the caller has
// journaled its outcome. It is no error if there is none.
func Forget(records, id string) error {
	dir := folderOf(records, id)
	rec, err := load(dir)
	if err != nil || rec == nil {
		return err
	}
	if rec.Phase != done && rec.Phase != undone {
		return fmt.Errorf("forget transaction %s: it has not ended", id)
	}
	return os.RemoveAll(dir)
}

// at is the absolute path of a file of the checkout.
func (s *side) at(n name) string { return filepath.Join(s.Dir, string(n)) }

// present reports whether the checkout is there at all.
func (s *side) present() bool {
	_, err := os.Stat(s.Dir)
	_, gerr := os.Stat(s.GitDir)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(gerr, fs.ErrNotExist)
}

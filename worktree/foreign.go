package worktree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// foreign reports whether a commit may hold files of agents, so that filters
// read its files in a sandbox. Its attributes choose the filter of a file, and
// a filter's program may be one of its files.
func (t *Trees) foreign(commit git.Hash) bool { return t.Confine != nil && commit != t.Own }

// checkingOut is the checkout of a whole commit.
type checkingOut struct {
	fill    git.FillRequest
	scratch string // a folder that is not there yet
}

// checkOut checks a commit out. For a foreign commit git first writes the files
// as they are stored, and makes the index. Then the filters write their files
// in the sandbox, and no git outside of it works in that folder again.
func (t *Trees) checkOut(ctx context.Context, c checkingOut) (err error) {
	if c.fill.Without, err = t.withheld(ctx, c.fill.Base, c.scratch); err != nil {
		return err
	}
	if err := t.Frozen.Fill(ctx, c.fill); err != nil || len(c.fill.Without) == 0 {
		return err
	}
	return t.filterApart(ctx, filteringApart{
		dir: c.fill.Dir, index: filepath.Join(c.fill.Admin, "index"), commit: c.fill.Base, scratch: c.scratch,
	})
}

// withheld are the filters that do not run while git checks a commit out.
func (t *Trees) withheld(ctx context.Context, commit git.Hash, scratch string) ([]string, error) {
	if !t.foreign(commit) {
		return nil, nil
	}
	filters, err := t.readFilters(ctx, t.Frozen.Lazy(scratch))
	if err = errors.Join(err, disk.RemoveAll(scratch)); err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(filters.drivers)), nil
}

// filteringApart is a checkout whose files are as they are stored.
type filteringApart struct {
	dir, index string
	commit     git.Hash
	scratch    string          // a folder that is not there yet
	only       map[string]bool // the files that are in dir; nil: all of the index
}

// filterApart makes the filters of a checkout write their files, in the
// sandbox. Only agents on that commit see changes that filters make to other
// files.
func (t *Trees) filterApart(ctx context.Context, f filteringApart) (err error) {
	q, err := t.Frozen.Quarantine(f.scratch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(f.scratch)) }()
	c := &capturing{
		Trees: t, CaptureRequest: CaptureRequest{Workspace: workspace.Workspace{Base: f.commit, Index: f.index}},
		quarantine: q, found: &survey.Survey{},
	}
	if c.index, err = t.Repo.ReadIndex(f.index); err != nil {
		return err
	}
	if c.filters, err = t.readFilters(ctx, q); err != nil {
		return err
	}
	var paths []string
	for _, e := range c.index {
		plain := e.Mode == baseline.ModeFile || e.Mode == baseline.ModeExec
		if plain && !e.SkipWorktree && (f.only == nil || f.only[e.Path]) {
			paths = append(paths, e.Path)
		}
	}
	s := &staging{capturing: c, private: f.index, scratch: f.dir}
	if err := s.setApart(ctx, paths); err != nil || s.apart == nil {
		return err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !s.filtered[path] })
	if err := s.rewrite(ctx, paths); err != nil {
		return fmt.Errorf("filter the files of %s: %w", f.commit.Short(), err)
	}
	return f.restat(t.Repo, s.filtered)
}

// rewrite has git write files of the scratch tree once more, with filters.
func (s *staging) rewrite(ctx context.Context, paths []string) error {
	if err := s.lendLFS(); err != nil {
		return err
	}
	// A file that is as old as the index says is left as it is.
	root, err := os.OpenRoot(s.scratch)
	if err != nil {
		return err
	}
	for _, path := range paths {
		err = errors.Join(err, root.Remove(path))
	}
	if err = errors.Join(err, root.Close()); err != nil {
		return err
	}
	_, err = s.apart.Run(ctx, git.Cmd{
		Args: []string{"checkout-index", "-z", "-f", "-q", "--stdin"},
		Dir:  s.scratch, Env: []string{"GIT_WORK_TREE=" + s.scratch},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	return err
}

// restat tells the index of the files that filters wrote.
func (f filteringApart) restat(repo *git.Repo, written map[string]bool) error {
	text, err := os.ReadFile(f.index)
	if err != nil {
		return err
	}
	at := &disk.Folders{Root: f.dir}
	text, rerr := repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		var s unix.Stat_t
		if !written[e.Path] {
			return git.IndexStat{}, false
		}
		dir, name, serr := at.Enter(e.Path)
		if serr == nil {
			serr = unix.Fstatat(dir, name, &s, unix.AT_SYMLINK_NOFOLLOW)
		}
		if serr == nil && s.Mode&unix.S_IFMT != unix.S_IFREG {
			serr = errors.New("a filter left something else than a file")
		}
		if serr != nil {
			err = errors.Join(err, &os.PathError{Op: "filter", Path: e.Path, Err: serr})
			return git.IndexStat{}, false
		}
		return git.StatOf(&s), true
	})
	if err = errors.Join(err, rerr, at.Close()); err != nil {
		return err
	}
	return disk.WriteFile(f.index, text)
}

// baseFiles writes the files of bases: it is the [bases.Files] of [Trees].
type baseFiles struct{ *Trees }

func (b baseFiles) Foreign(commit git.Hash) bool { return b.foreign(commit) }

func (b baseFiles) CheckOut(ctx context.Context, fill git.FillRequest, scratch string) error {
	return b.checkOut(ctx, checkingOut{fill: fill, scratch: scratch})
}

func (b baseFiles) Change(ctx context.Context, r bases.ChangeRequest) (err error) {
	if r.Without, err = b.withheld(ctx, r.To, r.Scratch); err != nil {
		return err
	}
	if err := b.Frozen.Change(ctx, r.ChangeRequest); err != nil || len(r.Without) == 0 {
		return err
	}
	return b.filterApart(ctx, filteringApart{dir: r.Dir, index: r.Index, commit: r.To, scratch: r.Scratch, only: r.Paths})
}

func (b baseFiles) Programs(ctx context.Context, scratch string) ([]string, error) {
	q, err := b.Frozen.Quarantine(scratch)
	if err != nil {
		return nil, err
	}
	f, err := b.readFilters(ctx, q)
	if err = errors.Join(err, q.Discard()); err != nil {
		return nil, err
	}
	return f.words, nil
}

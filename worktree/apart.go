package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// setApart makes git convert these files apart, in the caller's sandbox, if a
// filter is assigned to one of them. The index, the scratch tree and the rules
// must be complete by then. No git outside of the sandbox works in a folder that
// filters can write to.
func (s *staging) setApart(ctx context.Context, paths []string, more ...string) error {
	if s.Confine == nil || len(s.filters.drivers) == 0 {
		return nil
	}
	rules, err := s.readRewrites(ctx)
	if err != nil {
		return err
	}
	given, err := s.given(ctx, rules, paths)
	if err != nil || len(given.filters) == 0 {
		return err
	}
	s.filtered = given.filters
	read := []string{s.Frozen.Dir, s.Repo.CommonDir}
	if s.ruled {
		read = append(read, filepath.Join(s.quarantine.Dir, "rules"))
	}
	s.apart, err = s.quarantine.Apart(git.ApartRequest{
		Dir: filepath.Join(s.quarantine.Dir, "apart"), Confine: s.Confine, Index: s.private, Read: read,
		Write: append([]string{s.scratch}, more...), Programs: s.filters.programs,
		Config: []string{"lfs.storage=" + filepath.Join(s.quarantine.Dir, "apart", "work", lfsName)},
	})
	return err
}

// endApart removes the folders that filters could write to.
func (s *staging) endApart() error {
	if s.apart == nil {
		return nil
	}
	return errors.Join(disk.RemoveAll(s.apart.Dir), disk.RemoveAll(s.scratch))
}

// filter runs a git that runs the filters of a path.
func (s *staging) filter(ctx context.Context, path string, cmd git.Cmd) ([]byte, error) {
	if s.apart == nil || !s.filtered[path] {
		return s.quarantine.Run(ctx, cmd)
	}
	return s.apart.Run(ctx, cmd)
}

// readFiles has git read the files of the scratch tree into the index.
func (s *staging) readFiles(ctx context.Context) error {
	if s.apart == nil || s.feed.Len() == 0 {
		return s.update(ctx, &s.feed, "--stdin")
	}
	_, err := s.apart.Run(ctx, git.Cmd{
		Args: []string{"update-index", "-z", "--add", "--replace", "--stdin"},
		Dir:  s.scratch, Env: []string{"GIT_WORK_TREE=" + s.scratch}, Stdin: &s.feed,
	})
	if err != nil {
		return err
	}
	entries, err := s.apart.Index()
	if err != nil {
		return err
	}
	made := make(map[string]git.IndexEntry, len(entries))
	for _, e := range entries {
		made[e.Path] = e
	}
	for _, path := range s.fed {
		e, ok := made[path]
		if !ok {
			continue // git refuses the name
		}
		if e.Mode != baseline.ModeFile && e.Mode != baseline.ModeExec && e.Mode != baseline.ModeSym {
			return fmt.Errorf("read %q: a filter left it in the index with mode %o", path, e.Mode)
		}
		s.record(fmt.Sprintf("%o", e.Mode), e.ID, path)
		s.want(path, e.ID)
	}
	return nil
}

// want says that an object which was made apart is needed.
func (s *staging) want(path string, id git.Hash) {
	if known := s.base.Find(path); known == nil || known.ID != id {
		s.wanted = append(s.wanted, id)
	}
}

// takeIn takes the blobs that were made apart.
func (s *staging) takeIn(ctx context.Context) error {
	if s.apart == nil {
		return nil
	}
	if err := s.apart.Take(ctx, s.wanted); err != nil {
		return err
	}
	if s.apart.Failed() {
		s.found.AddNote(survey.FilterFailed, "")
	}
	return takeLFS(filepath.Join(s.apart.Work(), lfsName), s.lfsStorage())
}

// lfsStorage is where git-lfs keeps its files, as frozen.
func (s *staging) lfsStorage() string {
	dir := s.filters.storage
	if dir != "" && !filepath.IsAbs(dir) {
		dir = filepath.Join(s.Frozen.Dir, dir)
	}
	return dir
}

// lendLFS shows git-lfs the files it has, where it looks for them apart.
func (s *staging) lendLFS() error {
	store := s.lfsStorage()
	if s.apart == nil || store == "" {
		return nil
	}
	dir := filepath.Join(s.apart.Work(), lfsName)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(store, lfsObjects), filepath.Join(dir, lfsObjects))
}

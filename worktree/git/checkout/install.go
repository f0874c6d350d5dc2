package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// installIndex puts the next index in place of the old index. It has done so if
// the next index is gone.
func (m *mover) installIndex(ctx context.Context, s *side) error {
	next, index := s.own(m.ID, "index"), filepath.Join(s.GitDir, "index")
	if _, err := os.Lstat(next); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	at, err := readIndexSum(index)
	if err != nil {
		return writing(s.Dir, index, err)
	}
	if at != s.IndexSum {
		if ok, err := m.mergeIndex(ctx, s, next, index); !ok {
			return err
		}
	}
	if err := m.step("install the index"); err != nil {
		return writing(s.Dir, index, err)
	}
	if err := m.describe(s, next); err != nil {
		// Times that are as old as the old index make git compare contents.
		if err := os.Chtimes(next, s.IndexTime, s.IndexTime); err != nil {
			return writing(s.Dir, next, err)
		}
	}
	if info, err := os.Stat(index); err == nil {
		_ = os.Chmod(next, info.Mode().Perm()) // as before, where the file system can
	}
	if err := os.Rename(next, index); err != nil {
		return writing(s.Dir, index, err)
	}
	return syncDir(s.GitDir)
}

func readIndexSum(index string) (Identity, error) {
	text, err := os.ReadFile(index)
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	return Identity(sumOf(text)), err
}

// mergeIndex makes the next index anew, after the user changed the index although
// it was locked. Where that cannot be done the user's stays.
func (m *mover) mergeIndex(ctx context.Context, s *side, next, index string) (ok bool, err error) {
	// No git of ours runs: a git that was killed may have left its lock.
	if err := removeFile(s.own(m.ID, "index.lock")); err != nil {
		return false, writing(s.Dir, next, err)
	}
	text, err := os.ReadFile(index)
	if err == nil {
		err = writeSynced(next, text, 0o666)
	}
	if err == nil {
		repo := m.seen(s)
		_, err = repo.Run(ctx, git.Cmd{
			Args:   []string{"read-tree", "-m", "-i", string(orEmpty(repo, s.From)), string(orEmpty(repo, s.To))},
			Writes: true, Env: []string{"GIT_INDEX_FILE=" + next},
		})
	}
	if err == nil {
		return true, nil
	}
	var bad *git.Error
	if !errors.As(err, &bad) && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("make the index of %s anew: %w", s.Dir, err)
	}
	m.keep(s, []string{"the index"})
	return false, removeFile(next)
}

// describe gives the entries of the next index the times and sizes of the new
// files, so that git need not read them again. An old entry that git could not
// be sure of stays so.
func (m *mover) describe(s *side, next string) error {
	text, err := os.ReadFile(next)
	if err != nil {
		return err
	}
	news := map[string]Identity{}
	for _, p := range s.Paths {
		news[string(p.Path)] = p.New
	}
	oldest := git.IndexTime{Sec: uint32(s.IndexTime.Unix()), Nano: uint32(s.IndexTime.Nanosecond())}
	text, err = m.Repo.Restat(text, func(e *git.IndexEntry) (git.IndexStat, bool) {
		at, ours := news[e.Path]
		if !ours && e.MTime.Before(oldest) {
			return git.IndexStat{}, false
		}
		var st unix.Stat_t
		if unix.Lstat(s.at(name(e.Path)), &st) != nil {
			return git.IndexStat{}, false
		}
		stat := git.StatOf(&st)
		if !ours {
			stat.Size = 0 // git compares the content
		} else if here, err := Identify(s.at(name(e.Path))); err != nil || here != at {
			return git.IndexStat{}, false
		}
		return stat, true
	})
	if err != nil {
		return err
	}
	stat := s.own(m.ID, "stat")
	if err := writeSynced(stat, text, 0o666); err != nil {
		return errors.Join(err, removeFile(stat))
	}
	return os.Rename(stat, next)
}

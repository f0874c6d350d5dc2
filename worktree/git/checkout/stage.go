package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/git"
)

// stageName is the staging folder of a transaction. Git ignores its files.
func stageName(id string) string { return ".swarm-" + id }

// stage writes the new contents of a checkout, and its next index.
func (t *Tx) stage(ctx context.Context, i int, s *side) error {
	repo := t.seen(s)
	if err := s.writable(); err != nil {
		return err
	}
	if err := t.enough(ctx, repo, s); err != nil {
		return err
	}
	index := filepath.Join(t.dir, fmt.Sprint(indexFile, i))
	if s.Index {
		if err := t.step("lock the index"); err != nil {
			return writing(s.Dir, s.indexLock(), err)
		}
		if err := s.lockIndex(t.ID); err != nil {
			return err
		}
	}
	if err := s.copyIndex(ctx, repo, index); err != nil {
		return err
	}
	if err := t.step("make the staging folder"); err != nil {
		return writing(s.Dir, s.Dir, err)
	}
	top := filepath.Join(s.Dir, stageName(t.ID))
	if err := makeStage(top); err != nil {
		return writing(s.Dir, top, err)
	}
	if err := t.step("write the new files"); err != nil {
		return writing(s.Dir, "", err)
	}
	if err := s.fill(ctx, repo, filepath.Join(s.Dir, stageName(t.ID), "tree"), index); err != nil {
		return err
	}
	if err := t.plan(s); err != nil {
		return err
	}
	if err := t.step("sync the new files"); err != nil {
		return writing(s.Dir, "", err)
	}
	if err := s.sync(t.ID); err != nil {
		return err
	}
	return t.stageIndex(s, index)
}

// seen is the repository as seen from a checkout.
func (t *Tx) seen(s *side) *git.Repo {
	here := *t.Repo
	here.GitDir, here.TopLevel, here.Prefix = s.GitDir, s.Dir, ""
	if s.Common != "" {
		here.CommonDir = s.Common
	}
	return &here
}

// writable finds folders that cannot be written to before anything changes.
func (s *side) writable() error {
	seen := map[string]bool{}
	for _, p := range s.Paths {
		dir := s.Dir
		for at := filepath.Dir(s.at(p.Path)); len(at) > len(s.Dir); at = filepath.Dir(at) {
			if info, err := os.Stat(at); err == nil && info.IsDir() {
				dir = at
				break
			}
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return &WriteError{Dir: s.Dir, Path: s.at(p.Path), Err: err}
		}
	}
	return nil
}

// enough checks the room for the new files. The output of a filter may be larger
// than its file: then the write fails, which changes no file either.
func (t *Tx) enough(ctx context.Context, repo *git.Repo, s *side) error {
	var ids []git.Hash
	for _, c := range s.changes {
		if c.NewMode != absentMode && c.NewMode != git.Gitlink {
			ids = append(ids, c.New)
		}
	}
	sizes, err := repo.BlobSizes(ctx, s.env, ids)
	if err != nil {
		return err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(s.Dir, &st); err != nil {
		return &os.PathError{Op: "statfs", Path: s.Dir, Err: err}
	}
	var need room
	dirs := map[string]bool{}
	for _, size := range sizes {
		need.add(size, int64(st.Bsize))
	}
	for _, c := range s.changes {
		if dir := path.Dir(c.Path); c.NewMode != absentMode && !dirs[dir] {
			dirs[dir] = true
			need.add(int64(st.Bsize), int64(st.Bsize))
		}
	}
	if err := need.enough(s.Dir); err != nil || !s.Index {
		return err
	}
	var index room
	if info, err := os.Stat(filepath.Join(s.GitDir, "index")); err == nil {
		index.add(2*info.Size(), 0)
	}
	return index.enough(s.GitDir)
}

// absentMode is the mode of a side of a change where there is no file.
const absentMode = "000000"

// copyIndex makes the index that the new files are read into: a copy of the
// user's, or From where the user's index stays as it is.
func (s *side) copyIndex(ctx context.Context, repo *git.Repo, to string) error {
	if !s.Index {
		_, err := repo.Run(ctx, git.Cmd{
			Args: []string{"read-tree", string(orEmpty(repo, s.From))}, Writes: true,
			Env: append(slices.Clone(s.env), "GIT_INDEX_FILE="+to),
		})
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.GitDir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		s.IndexSum = Absent
		return nil // a branch that is not born has none
	}
	if err != nil {
		return err
	}
	s.IndexSum = Identity(sumOf(text))
	if err := os.WriteFile(to, text, 0o600); err != nil {
		return err
	}
	// Its time decides whether git believes it or compares contents.
	info, err := os.Stat(filepath.Join(s.GitDir, "index"))
	if err != nil {
		return err
	}
	s.IndexTime = info.ModTime()
	return os.Chtimes(to, s.IndexTime, s.IndexTime)
}

func orEmpty(repo *git.Repo, h git.Hash) git.Hash {
	if h == "" {
		return repo.EmptyTree()
	}
	return h
}

// makeStage makes a staging folder: tree is where git writes, new is for files
// of other file systems, old is where old files are moved.
func makeStage(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for _, sub := range []string{"tree", "new", "old"} {
		// Files that are linked from here have the modes of a checkout, and so
		// do folders of submodules.
		if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}

// fill has git write the new files into the folder tree, as it would write them
// into the checkout: it merges From and To into the index in a work tree
// that holds no file. Filters run where they would run in the checkout.
func (s *side) fill(ctx context.Context, repo *git.Repo, tree, index string) error {
	if err := s.lendAttributes(ctx, repo, tree, index); err != nil {
		return err
	}
	settings, err := repo.Settings(ctx)
	if err != nil {
		return err
	}
	s.sparse = s.Index && isSparse(settings)
	env := filtersAt(settings, s.Dir)
	cmd := git.Cmd{
		Dir: tree, Writes: true,
		Env:  slices.Concat(env, s.env, []string{"GIT_WORK_TREE=" + tree, "GIT_INDEX_FILE=" + index}),
		Args: []string{"read-tree", "-m", "-u", string(orEmpty(repo, s.From)), string(orEmpty(repo, s.To))},
	}
	if !s.Index {
		cmd.Config = []string{"core.sparseCheckout=false"}
	}
	_, err = repo.Run(ctx, cmd)
	var bad *git.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &bad):
		return fmt.Errorf("write the new files of %s: %w", s.Dir, err)
	}
	at := bad.Unwritten()
	if at != "" {
		at = filepath.Join(s.Dir, at)
	}
	if errno := bad.Errno(); errno != 0 {
		return &WriteError{Dir: s.Dir, Path: at, Err: errno}
	}
	// Git names no cause where a write fails half-way.
	var least room
	if serr := least.enough(s.Dir); serr != nil {
		return &WriteError{Dir: s.Dir, Path: at, Err: serr}
	}
	if paths := bad.Overwrites(); len(paths) > 0 {
		return &git.DirtyError{Dir: s.Dir, Paths: paths}
	}
	return fmt.Errorf("write the new files of %s: %w", s.Dir, err)
}

// lendAttributes copies attribute files that git would read in the checkout and
// that are not in its index.
func (s *side) lendAttributes(ctx context.Context, repo *git.Repo, tree, index string) error {
	seen := map[string]bool{}
	var found []string
	for _, c := range s.changes {
		for dir := path.Dir(c.Path); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			at := path.Join(dir, attributes)
			if info, err := os.Stat(filepath.Join(s.Dir, at)); err == nil && info.Mode().IsRegular() {
				found = append(found, at)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	out, err := repo.Run(ctx, git.Cmd{
		Args: append([]string{"--literal-pathspecs", "ls-files", "-z", "--cached", "--"}, found...),
		Env:  append(slices.Clone(s.env), "GIT_INDEX_FILE="+index),
	})
	if err != nil {
		return fmt.Errorf("look for attributes in %s: %w", s.Dir, err)
	}
	tracked := strings.Split(string(out), "\x00")
	for _, n := range found {
		if slices.Contains(tracked, n) {
			continue
		}
		at := filepath.Join(tree, n)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return writing(s.Dir, at, err)
		}
		if err := copyFile(filepath.Join(s.Dir, n), at); err != nil {
			return writing(s.Dir, at, err)
		}
	}
	return nil
}

const attributes = ".gitattributes"

// filtersAt is an environment in which the user's filters run in the checkout,
// whichever work tree git has: their commands may name files there.
func filtersAt(settings []git.Setting, dir string) []string {
	var env []string
	n := 0
	for _, s := range settings {
		if s.Section != "filter" || s.Name != "smudge" && s.Name != "process" || s.Value == "" {
			continue
		}
		at := "'" + strings.ReplaceAll(dir, "'", `'\''`) + "'"
		if s.Name == "smudge" {
			at = strings.ReplaceAll(at, "%", "%%") // git puts the path for %f
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=filter.%s.%s", n, s.Of, s.Name),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=cd %s && export GIT_WORK_TREE=%s && unset GIT_INDEX_FILE && %s", n, at, at, s.Value))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// isSparse reports whether a configuration makes checkouts sparse. The last
// entry counts.
func isSparse(settings []git.Setting) bool {
	on := false
	for _, s := range settings {
		if s.Section == "core" && s.Name == "sparsecheckout" {
			on = s.On()
		}
	}
	return on
}

// stageIndex puts the next index beside the index that it replaces.
func (t *Tx) stageIndex(s *side, from string) error {
	if !s.Index {
		return nil
	}
	to := s.own(t.ID, "index")
	if err := t.step("write the next index"); err != nil {
		return writing(s.Dir, to, err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writing(s.Dir, to, writeSynced(to, text, 0o666))
}

// copyFile copies a regular file with its mode, and a link as a link.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

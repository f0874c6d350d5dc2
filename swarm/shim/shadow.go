package shim

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// repo is where the call is made.
type repo struct {
	top    string // of the work tree
	prefix string // where the call is made, from the top; empty: there
	gitDir string
	index  string
}

// find asks git; ok is false where it has no work tree.
func (c *call) find() (r repo, ok bool) {
	// A query for each: any answer may have a line break in it.
	for _, ask := range []struct {
		to   *string
		word []string
	}{
		{&r.top, []string{"--show-toplevel"}},
		{&r.prefix, []string{"--show-prefix"}},
		{&r.gitDir, []string{"--absolute-git-dir"}},
		{&r.index, []string{"--path-format=absolute", "--git-path", "index"}},
	} {
		if *ask.to, ok = c.query(append([]string{"rev-parse"}, ask.word...)...); !ok {
			return repo{}, false
		}
	}
	return r, r.top != ""
}

// below is a path from the top of the work tree, as git reads it: dots are
// resolved by name. It is false where that leaves the work tree.
func (r repo) below(name string) (string, bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(r.top, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			// It may lie there by another name.
			parent, perr := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(name)))
			if rel, err = filepath.Rel(r.top, filepath.Join(parent, filepath.Base(name))); perr != nil || err != nil {
				return "", false
			}
		}
		return rel, rel != ".." && !strings.HasPrefix(rel, "../")
	}
	rel := path.Clean(path.Join(r.prefix, name))
	return rel, rel != ".." && !strings.HasPrefix(rel, "../")
}

// environ is an environment in which git works with the repository's index
// on another work tree.
func (r repo) environ(env []string, workTree string) []string {
	var all []string
	for _, v := range env {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX":
		default:
			all = append(all, v)
		}
	}
	return append(all, "GIT_DIR="+r.gitDir, "GIT_WORK_TREE="+workTree, "GIT_INDEX_FILE="+r.index)
}

// shadow is a work tree of empty files, in which any folder can be renamed.
// There git changes its index as it would in the real work tree: the staged
// contents, its flags and its order are git's own.
type shadow struct {
	*renaming
	dir string
}

// newShadow makes a shadow with the files of the real work tree that git will
// look at, before anything moves there.
func newShadow(m *renaming) (_ *shadow, err error) {
	s := &shadow{renaming: m}
	if s.dir, err = os.MkdirTemp("", "swarm-mv-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove())
		}
	}()
	for _, src := range m.sources {
		if !src.folder {
			continue
		}
		for _, dir := range []string{src.from, path.Dir(src.to)} {
			if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
				return nil, err
			}
		}
		for _, name := range src.tracked {
			if err := s.copy(name); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// copy makes an empty likeness of the file at a path, if there is any.
func (s *shadow) copy(name string) error {
	info, err := os.Lstat(filepath.Join(s.top, name))
	if err != nil {
		return nil // git finds it missing, too
	}
	to := filepath.Join(s.dir, name)
	if info.IsDir() {
		return os.MkdirAll(to, 0o700)
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			f, err = os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600)
		}
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// rename changes the index for folders that have moved.
func (s *shadow) rename(moved []source) (code int) {
	if len(moved) == 0 {
		return 0
	}
	// The untracked cache belongs to the real work tree.
	args := append([]string{"-c", "core.untrackedCache=keep", "-c", "core.fsmonitor=false", "mv"}, s.flags...)
	args = append(args, "--")
	to := s.into
	if to == "" {
		to = moved[0].to
	}
	for _, src := range moved {
		args = append(args, src.from)
	}
	before, err := os.Stat(s.index)
	if err != nil {
		return s.fail(fmt.Errorf("rename in the index: %w", err))
	}
	code, err = s.child(child{
		global: s.placeless(), args: append(args, to), dir: s.dir, env: s.environ(s.Environ, s.dir),
		out: s.Stdout, err: s.Stderr,
	})
	if err != nil {
		return s.fail(fmt.Errorf("rename in the index: %w", err))
	}
	if code == 0 {
		// Git looks at the content of files that are not older than its index.
		// Before it makes that younger it does so once more, but not here.
		if err := os.Chtimes(s.index, time.Time{}, before.ModTime()); err != nil {
			fmt.Fprintln(s.Stderr, "warning: git may miss what has just changed:", err)
		}
	}
	return code
}

func (s *shadow) remove() error { return os.RemoveAll(s.dir) }

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"agentswarm/worktree/git"
)

// shellForm is what, in the folder of a run, the layers of git dirs are called.
// No workspace can be called so.
var shellForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.git\.[0-9]+(\.new)?$`) })

// shell is the layer with the git dir that all overlays of a base and of this
// process begin with. Those of an earlier process keep theirs: what is mounted
// must never change.
func (t *Trees) shell(ctx context.Context, template *git.Template, b *base) (string, error) {
	known := func() string {
		t.basesMu.Lock()
		defer t.basesMu.Unlock()
		return t.shells[b.commit]
	}
	if dir := known(); dir != "" {
		return dir, nil
	}
	if err := t.making.Acquire(ctx, 1); err != nil {
		return "", fmt.Errorf("wait for the git dir of a base: %w", context.Cause(ctx))
	}
	defer t.making.Release(1)
	if dir := known(); dir != "" {
		return dir, nil
	}
	dir, err := t.makeShell(template, b)
	if err != nil {
		return "", err
	}
	t.basesMu.Lock()
	defer t.basesMu.Unlock()
	t.shells[b.commit] = dir
	return dir, nil
}

func (t *Trees) makeShell(template *git.Template, b *base) (dir string, err error) {
	for n := 1; ; n++ {
		dir = filepath.Join(t.Dir, fmt.Sprintf(".git.%d", n))
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		if err = os.Mkdir(dir+".new", 0o700); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
	link, _ := t.Objects()
	err = template.Private(git.PrivateRequest{
		Dir: filepath.Join(dir+".new", ".git"), Base: b.commit, Index: b.index(), Objects: link,
	})
	if err == nil {
		err = os.Rename(dir+".new", dir)
	}
	if err != nil {
		return "", errors.Join(err, RemoveAll(dir+".new"))
	}
	return dir, nil
}

// wholeGit makes a whole git dir in the trash of what a workspace had changed of
// one. It may be done again.
func wholeGit(tree, shell string) error {
	m := merging{own: filepath.Join(tree, upperName, ".git")}
	both := layers{m.own, shell}
	switch at, err := os.Lstat(m.own); {
	case missing(err):
		both = both[1:]
	case err != nil || !at.IsDir():
		return err // the agent took it away
	case opaque(m.own):
		both = both[:1]
	}
	to := filepath.Join(tree, gitName)
	if _, err := os.Lstat(to); err == nil {
		return RemoveAll(m.own)
	} else if !missing(err) {
		return err
	}
	err := RemoveAll(to + ".new")
	if err == nil {
		err = m.merge(both, to+".new")
	}
	if err == nil {
		err = os.Rename(to+".new", to)
	}
	if missing(err) {
		return nil // the run has no workspaces any more, and what they had in common is gone
	}
	if err != nil {
		return fmt.Errorf("keep the git dir: %w", err)
	}
	return RemoveAll(m.own)
}

// merging makes one folder of those of an overlay. Files of own get a second
// name; the others are not ours alone.
type merging struct{ own string }

func (m merging) merge(l layers, to string) error {
	names, err := l.names("")
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for name := range names {
		to := filepath.Join(to, name)
		if below := l.folders(name); len(below) > 0 {
			err = m.merge(below, to)
		} else {
			err = m.file(l, name, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file puts the topmost of what folders have of a name at a path.
func (m merging) file(l layers, name, to string) error {
	for _, dir := range l {
		from := filepath.Join(dir, name)
		at, err := os.Lstat(from)
		switch {
		case missing(err):
			continue
		case err != nil:
			return err
		case at.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(from)
			if err != nil {
				return err
			}
			return os.Symlink(target, to)
		case !at.Mode().IsRegular():
			return nil // nothing that git made
		}
		if strings.HasPrefix(from, m.own+"/") && os.Link(from, to) == nil {
			return nil
		}
		return git.CloneFile(from, to)
	}
	return nil
}

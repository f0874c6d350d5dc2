package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"agentswarm/worktree/bases"
	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/overlay"
	"agentswarm/worktree/workspace"
)

// shellForm matches the names of the layers of git dirs in the folder of a run.
// No workspace can have such a name.
var shellForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.git\.[0-9]+(\.new)?$`) })

// shell is the layer with the initial git dir of all overlays of a base and of
// this process. Overlays of an earlier process keep their layer, as a mounted
// layer must never change.
func (t *Trees) shell(ctx context.Context, template *git.Template, b *bases.Base) (string, error) {
	known := func() string {
		t.commonMu.Lock()
		defer t.commonMu.Unlock()
		return t.shells[b.Commit]
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
	t.commonMu.Lock()
	defer t.commonMu.Unlock()
	t.shells[b.Commit] = dir
	return dir, nil
}

func (t *Trees) makeShell(template *git.Template, b *bases.Base) (dir string, err error) {
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
		Dir: filepath.Join(dir+".new", ".git"), Base: b.Commit, Index: b.Index(), Objects: link,
	})
	if err == nil {
		err = os.Rename(dir+".new", dir)
	}
	if err != nil {
		return "", errors.Join(err, disk.RemoveAll(dir+".new"))
	}
	return dir, nil
}

// wholeGit makes a complete git dir in the trash from a workspace's changes to
// its git dir. It may be done again.
func wholeGit(tree, shell string) error {
	m := overlay.Merger{Own: filepath.Join(tree, workspace.UpperName, ".git")}
	both := overlay.Layers{m.Own, shell}
	switch at, err := os.Lstat(m.Own); {
	case disk.Missing(err):
		both = both[1:]
	case err != nil || !at.IsDir():
		return err // the agent took it away
	case overlay.Opaque(m.Own):
		both = both[:1]
	}
	to := filepath.Join(tree, workspace.GitName)
	if _, err := os.Lstat(to); err == nil {
		return disk.RemoveAll(m.Own)
	} else if !disk.Missing(err) {
		return err
	}
	err := disk.RemoveAll(to + ".new")
	if err == nil {
		err = m.Merge(both, to+".new")
	}
	if err == nil {
		err = os.Rename(to+".new", to)
	}
	if disk.Missing(err) {
		return nil // the run has no workspaces any more, and their common files are gone
	}
	if err != nil {
		return fmt.Errorf("keep the git dir: %w", err)
	}
	return disk.RemoveAll(m.Own)
}

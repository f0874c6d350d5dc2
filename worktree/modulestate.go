package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/git"
)

// unfetched reports whether the git dir of a submodule was never checked out. Git
// leaves such a folder where it cannot fetch the recorded commit: it has cloned,
// HEAD is on a branch of the remote or unborn, and there is no index. Files that
// are missing there are not deleted.
func (c *capturing) unfetched(path string, head git.Hash) bool {
	admin := c.Workspace.moduleAdmin(path)
	if admin == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(admin, "index"))
	return missing(err) || head == "" && looseFiles(filepath.Join(c.Workspace.files(), path)) == 0
}

// noteUnfetched notes a submodule that was never checked out, with the number of
// files in its folder. The workspace goes to the trash.
func (s *survey) noteUnfetched(path string, files int) {
	s.note(SubmoduleMissing, path)
	s.notes[len(s.notes)-1].Size = int64(files)
}

// maxModulesFile bounds the .gitmodules of an agent, in bytes.
const maxModulesFile = 1 << 20

// nameAdded tells the repositories below the workspace that its .gitmodules names as
// submodules from others. A file that git cannot read names none.
func (c *capturing) nameAdded(ctx context.Context) {
	if !slices.ContainsFunc(c.found.notes, func(n Note) bool { return n.Kind == NestedRepository }) {
		return
	}
	file, there := c.Workspace.Find(".gitmodules")
	at, err := os.Lstat(file)
	if !there || err != nil || !at.Mode().IsRegular() || at.Size() > maxModulesFile {
		return
	}
	out, err := c.Repo.Run(ctx, git.Cmd{Args: []string{"config", "--no-includes", "--file", file, "--list", "-z"}})
	if err != nil {
		return
	}
	added := map[string]bool{}
	for rec := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(rec, "\n")
		if strings.HasPrefix(key, "submodule.") && strings.HasSuffix(key, ".path") {
			added[value] = true
		}
	}
	for i, n := range c.found.notes {
		if n.Kind == NestedRepository && added[n.Path] {
			c.found.notes[i].Kind = SubmoduleAdded
		}
	}
}

// looseFiles counts the files of a submodule, without its .git. A folder that
// cannot be read counts as a file.
func looseFiles(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // fails at no entry
		switch {
		case path == filepath.Join(dir, ".git"):
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
		case err != nil || !e.IsDir():
			n++
		}
		return nil
	})
	return n
}

// checkedOut reports whether the files of a captured submodule are a checkout. A
// HEAD that does not contain the recorded commit may be the place where a failed
// fetch left it: then the files must be those of HEAD.
func (m *moduleCapture) checkedOut(ctx context.Context, got *Capture, head git.Hash) (bool, error) {
	base := m.request.Workspace.Base
	if head == base || got.Head == "" {
		return true, nil
	}
	tree, err := m.trees.treeOf(ctx, got.Head)
	if err != nil || tree == got.Tree {
		return err == nil, err
	}
	return m.trees.Repo.Contains(ctx, got.Head, base)
}

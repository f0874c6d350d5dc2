package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
)

// unfetched reports whether the git dir of a submodule was never checked out. Git
// leaves such a folder where it cannot fetch the recorded commit: it has cloned,
// HEAD is on a branch of the remote or unborn, and there is no index. Files that
// are missing there are not deleted.
func (c *capturing) unfetched(path string, head git.Hash) bool {
	admin := c.Workspace.ModuleAdmin(path)
	if admin == "" {
		return false
	}
	_, err := os.Lstat(filepath.Join(admin, "index"))
	return disk.Missing(err) || head == "" && survey.LooseFiles(filepath.Join(c.Workspace.Files(), path)) == 0
}

// maxModulesFile bounds the .gitmodules of an agent, in bytes.
const maxModulesFile = 1 << 20

// nameAdded tells the repositories below the workspace that its .gitmodules names as
// submodules from others. A file that git cannot read names none.
func (c *capturing) nameAdded(ctx context.Context) {
	if !slices.ContainsFunc(c.found.Notes, func(n survey.Note) bool { return n.Kind == survey.NestedRepository }) {
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
	for i, n := range c.found.Notes {
		if n.Kind == survey.NestedRepository && added[n.Path] {
			c.found.Notes[i].Kind = survey.SubmoduleAdded
		}
	}
}

// checkedOut reports whether the files of a captured submodule are a checkout. A
// HEAD that does not contain the recorded commit may be the place where a failed
// fetch left it: then the files must be those of HEAD.
func (m *moduleCapture) checkedOut(ctx context.Context, got *Capture, head git.Hash) (bool, error) {
	base := m.request.Workspace.Base
	if head == base || got.Head == "" {
		return true, nil
	}
	tree, err := m.trees.Repo.TreeOnce(ctx, got.Head)
	if err != nil || tree == got.Tree {
		return err == nil, err
	}
	return m.trees.Repo.Contains(ctx, got.Head, base)
}

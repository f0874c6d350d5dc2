package worktree

import (
	"os"
	"path/filepath"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/overlay"
	"agentswarm/worktree/workspace"
)

// Reconfigured reports whether an agent has changed the workspace's own git
// configuration, or may have. It runs no git in the workspace, as its
// configuration can name programs.
func (t *Trees) Reconfigured(w workspace.Workspace) bool {
	switch {
	case !w.Private():
		return true // it is the repository's, which others write to as well
	case w.Shell != "":
		return reconfiguredAbove(w.Admin)
	}
	t.commonMu.Lock()
	made := t.template
	t.commonMu.Unlock()
	if made == nil || !made.Configures(w.Admin) {
		return true
	}
	if w.At != "" {
		return false // its git dir is mounted, and cannot be put elsewhere
	}
	file := filepath.Join(w.Files(), ".git")
	at, err := os.Lstat(file)
	if err != nil || !at.Mode().IsRegular() || at.Size() > workspace.MaxGitFile {
		return true
	}
	text, err := os.ReadFile(file)
	return err != nil || string(text) != leadTo(w.Admin)
}

// leadTo is the text of a .git file.
func leadTo(admin string) string { return "gitdir: " + admin + "\n" }

// reconfiguredAbove checks a git dir of which a workspace has only the changes.
func reconfiguredAbove(dir string) bool {
	at, err := os.Lstat(dir)
	switch {
	case disk.Missing(err):
		return false // no change
	case err != nil || !at.IsDir() || overlay.Opaque(dir):
		return true // another file or folder stands in its place
	}
	for _, name := range []string{"config", "config.worktree", "commondir"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !disk.Missing(err) {
			return true
		}
	}
	return false
}

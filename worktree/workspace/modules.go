package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// ModuleSeen is the git dir of a submodule of this workspace as its agent sees it.
func (w Workspace) ModuleSeen(path string) string {
	if at := w.moduleDir(path); at != "" {
		if rel, err := filepath.Rel(w.Admin, at); err == nil {
			return filepath.Join(w.gitSeen(), rel)
		}
	}
	return filepath.Join(w.Path(), path, ".git")
}

// ModuleAdmin is the git dir of a submodule: its .git folder, or the folder
// that its .git file names. It is empty if the submodule is not in the
// workspace.
func (w Workspace) ModuleAdmin(path string) string {
	dotGit := filepath.Join(w.Files(), path, ".git")
	if at, err := os.Lstat(dotGit); err == nil && at.IsDir() {
		return dotGit
	}
	return w.moduleDir(path)
}

// MaxGitFile bounds the .git file of a submodule.
const MaxGitFile = 8 << 10

// moduleDir is our path of the git dir of a submodule. Its .git file has the
// path inside the workspace. It is empty if the git dir is not in the
// workspace's own git dir.
func (w Workspace) moduleDir(path string) string {
	file := filepath.Join(w.Files(), path, ".git")
	at, err := os.Lstat(file)
	if err != nil || !at.Mode().IsRegular() || at.Size() > MaxGitFile {
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(w.Path(), path, to)
	}
	modules := filepath.Join(w.gitSeen(), "modules") + "/"
	if name, ok := strings.CutPrefix(filepath.Clean(to), modules); ok {
		return NoSymlinks(w.Admin, filepath.Join("modules", name))
	}
	return ""
}

// gitSeen is the git dir of a workspace as those see it who work in it.
func (w Workspace) gitSeen() string {
	switch {
	case w.SeenGit != "":
		return w.SeenGit
	case w.At != "":
		return filepath.Join(w.At, ".git")
	}
	return w.Admin
}

// NoSymlinks joins a path to a folder; it is empty where something on the way
// is a symlink, or not there.
func NoSymlinks(dir, path string) string {
	for part := range strings.SplitSeq(path, "/") {
		dir = filepath.Join(dir, part)
		if at, err := os.Lstat(dir); err != nil || !at.IsDir() {
			return ""
		}
	}
	return dir
}

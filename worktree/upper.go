package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/git"
)

// removed looks at what an entry of an upper layer does to what the base has
// at its path, and reports whether that is all it is there for.
func (k *walker) removed(path string, at fs.FileInfo) bool {
	if k.work.kind() != Overlay {
		return false
	}
	if at.IsDir() {
		if opaque(filepath.Join(k.root, path)) {
			k.opaque[path] = true
			k.out.seal.mark(path)
		}
		return false
	}
	white := isWhiteout(at)
	if white {
		k.out.seal.add(path, at)
	}
	// Anything but a folder hides all of the folder below it, and what is no
	// file to git hides a file.
	file := at.Mode().IsRegular() || at.Mode().Type() == fs.ModeSymlink
	if !k.inner && (!file || k.base.holds(path)) {
		k.anew = append(k.anew, path)
	}
	return white
}

// whiteout is for what is counted in a folder of an upper layer.
func (k *walker) whiteout(path string, at fs.FileInfo) bool {
	if !isWhiteout(at) {
		return false
	}
	k.out.seal.add(path, at)
	return true
}

// inside surveys a folder below the top. One of an upper layer that is not
// merged with a folder of the base holds all that is at its path.
func (k *walker) inside(ctx context.Context, path string) error {
	if k.inner || !k.opaque[path] && k.base.holds(path) {
		return k.dir(ctx, path)
	}
	k.anew = append(k.anew, path)
	k.inner = true
	err := k.dir(ctx, path)
	k.inner = false
	return err
}

// mountPoint looks at what is where the git dir of a workspace of its own kind
// is for those who work in it: what they changed of it or, where it is mounted
// there, nothing or an empty folder.
func (k *walker) mountPoint(path string, at fs.FileInfo) {
	if at == nil || isWhiteout(at) || at.IsDir() && k.work.Shell != "" {
		return
	}
	if !at.IsDir() {
		// A file leads elsewhere and holds no work.
		k.out.notes = append(k.out.notes, Note{Kind: GitReplaced, Path: ".git"})
		return
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
		k.out.note(GitReplaced, ".git")
	}
}

// cameAlong is what came along from the user's checkout to a path.
type cameAlong int

const (
	isNothing cameAlong = iota
	isFile
	isFolder
)

// cameAlong looks into the layer of what came along. It follows no symlink:
// those of the user's lead into the checkout.
func (k *walker) cameAlong(path string) cameAlong {
	if k.work.Along == "" || k.work.kind() != Overlay {
		return isNothing
	}
	at := k.work.Along
	found := isFolder
	for part := range strings.SplitSeq(path, "/") {
		if found != isFolder {
			return isNothing
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return isNothing
		case !info.IsDir():
			found = isFile
		}
	}
	return found
}

// Head is the commit that a workspace's HEAD leads to; empty where it leads to
// none.
func (t *Trees) Head(ctx context.Context, w Workspace) (git.Hash, error) { return t.headOf(ctx, w) }

// headOf is the commit that a workspace's HEAD leads to; empty where it leads
// to none. Where the git dir is an agent's own, no git is run in it: its
// configuration can name programs.
func (t *Trees) headOf(ctx context.Context, w Workspace) (git.Hash, error) {
	if w.Shell != "" {
		return t.Repo.PrivateHead(w.Admin, filepath.Join(w.Shell, ".git"))
	}
	if w.Private() {
		return t.Repo.PrivateHead(w.Admin)
	}
	return t.Repo.HeadOf(ctx, w.Admin)
}

// moduleHead is the commit that a populated submodule is at; empty where that
// cannot be told.
func (t *Trees) moduleHead(ctx context.Context, w Workspace, path string) (git.Hash, error) {
	if _, err := os.Lstat(filepath.Join(w.files(), path, ".git")); err != nil {
		return "", err
	}
	dir := w.moduleAdmin(path)
	if dir == "" {
		return "", nil
	}
	return t.Repo.PrivateHead(dir)
}

// moduleAdmin is the git dir of a submodule: its .git folder, or what its .git
// file names. It is empty for one that is not in the workspace.
func (w Workspace) moduleAdmin(path string) string {
	dotGit := filepath.Join(w.files(), path, ".git")
	if at, err := os.Lstat(dotGit); err == nil && at.IsDir() {
		return dotGit
	}
	return w.moduleDir(path)
}

// maxGitFile bounds the .git file of a submodule.
const maxGitFile = 8 << 10

// moduleDir is where the git dir of a submodule lies for us. Its .git file
// names it as those see it who work in the workspace. It is empty for one that
// is not in the workspace's own git dir.
func (w Workspace) moduleDir(path string) string {
	file := filepath.Join(w.files(), path, ".git")
	at, err := os.Lstat(file)
	if err != nil || !at.Mode().IsRegular() || at.Size() > maxGitFile {
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
		return noSymlinks(w.Admin, filepath.Join("modules", name))
	}
	return ""
}

// gitSeen is the git dir of a workspace as those see it who work in it.
func (w Workspace) gitSeen() string {
	switch {
	case w.seenGit != "":
		return w.seenGit
	case w.At != "":
		return filepath.Join(w.At, ".git")
	}
	return w.Admin
}

// noSymlinks joins a path to a folder; it is empty where something on the way
// is a symlink, or not there.
func noSymlinks(dir, path string) string {
	for part := range strings.SplitSeq(path, "/") {
		dir = filepath.Join(dir, part)
		if at, err := os.Lstat(dir); err != nil || !at.IsDir() {
			return ""
		}
	}
	return dir
}

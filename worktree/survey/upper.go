package survey

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"agentswarm/worktree/overlay"
	"agentswarm/worktree/workspace"
)

// removed checks whether an entry of an upper layer hides the base's content of
// its path. It reports whether that is the only purpose of the entry.
func (k *walker) removed(path string, at fs.FileInfo) bool {
	if k.work.Kind() != workspace.Overlay {
		return false
	}
	if at.IsDir() {
		if overlay.Opaque(filepath.Join(k.root, path)) {
			k.opaque[path] = true
			k.out.Seal.mark(path)
		}
		return false
	}
	white := overlay.IsWhiteout(at)
	if white {
		k.out.Seal.add(path, at)
	}
	// An entry other than a folder hides all of a folder below it. An entry
	// that git does not take for a file hides a file.
	file := at.Mode().IsRegular() || at.Mode().Type() == fs.ModeSymlink
	if !k.inner && (!file || k.base.Holds(path)) {
		k.anew = append(k.anew, path)
	}
	return white
}

// whiteout is for the entries that are counted in a folder of an upper layer.
func (k *walker) whiteout(path string, at fs.FileInfo) bool {
	if !overlay.IsWhiteout(at) {
		return false
	}
	k.out.Seal.add(path, at)
	return true
}

// inside surveys a folder below the top. A folder of an upper layer that is not
// merged with a folder of the base holds the complete content of its path.
func (k *walker) inside(ctx context.Context, path string) error {
	if k.inner || !k.opaque[path] && k.base.Holds(path) {
		return k.dir(ctx, path)
	}
	k.anew = append(k.anew, path)
	k.inner = true
	err := k.dir(ctx, path)
	k.inner = false
	return err
}

// mountPoint checks the place of the git dir of a private workspace. It holds
// the changes to the git dir or, if the git dir is mounted there, it is missing
// or an empty folder.
func (k *walker) mountPoint(path string, at fs.FileInfo) {
	if at == nil || overlay.IsWhiteout(at) || at.IsDir() && k.work.Shell != "" {
		return
	}
	if !at.IsDir() {
		// A file leads elsewhere and holds no work.
		k.out.Notes = append(k.out.Notes, Note{Kind: GitReplaced, Path: ".git"})
		return
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
		k.out.AddNote(GitReplaced, ".git")
	}
}

// cameAlong is the kind of the user's included file at a path.
type cameAlong int

const (
	isNothing cameAlong = iota
	isFile
	isFolder
)

// cameAlong looks a path up in the layer of the included files. It follows no
// symlink: the user's symlinks lead into the checkout.
func (k *walker) cameAlong(path string) cameAlong {
	if k.work.Along == "" || k.work.Kind() != workspace.Overlay {
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

// submodule looks at the folder of a submodule. It returns false if the folder
// holds plain files, which the walk goes on with.
func (k *walker) submodule(path string) bool {
	k.seen[path] = true
	// An untouched submodule stays as it was: in the base, or in the restored
	// commit.
	if k.placed.Link(path) {
		k.out.Links[path] = k.placed[path].ID
	}
	entries, ok := k.list(path)
	if !ok || len(entries) == 0 {
		return true
	}
	dotGit := filepath.Join(k.root, path, ".git")
	if _, err := os.Lstat(dotGit); err != nil {
		k.out.AddNote(SubmoduleReplaced, path)
		delete(k.out.Links, path) // adding its files removes it
		return false
	}
	k.out.Modules = append(k.out.Modules, path)
	return true
}

package worktree

import (
	"context"
	"os"
	"path/filepath"
)

// submodule looks at the folder of one. It answers false where the folder
// holds plain files, which the walk goes on with.
func (k *walker) submodule(ctx context.Context, path string) bool {
	k.seen[path] = true
	// Left alone, it stays as it was: in the base, or in what was restored.
	if k.placed.link(path) {
		k.out.links[path] = k.placed[path].ID
	}
	entries, ok := k.list(path)
	if !ok || len(entries) == 0 {
		return true
	}
	dotGit := filepath.Join(k.root, path, ".git")
	if _, err := os.Lstat(dotGit); err != nil {
		k.out.note(SubmoduleReplaced, path)
		delete(k.out.links, path) // adding its files removes it
		return false
	}
	k.out.note(SubmoduleLeft, path)
	// Where git cannot answer it stays as it was; the note says that more may
	// be in it, and the workspace goes to the trash.
	head, err := k.headOf(ctx, path)
	if err != nil || head == "" {
		return true
	}
	delete(k.out.links, path)
	if known := k.base.find(path); known == nil || head != known.ID {
		k.out.note(SubmoduleMoved, path)
		k.out.links[path] = head
	}
	return true
}

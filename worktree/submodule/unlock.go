package submodule

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"agentswarm/worktree/git"
)

// UnlockStores removes the locks that killed gits left on the refs of swarm in the
// stores below a folder. No process may write to these stores meanwhile. A folder
// that does not exist has no stores.
func UnlockStores(repo *git.Repo, stores string) error {
	entries, err := os.ReadDir(stores)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unlock the stores of submodules: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || filepath.Ext(e.Name()) != ".git" {
			continue
		}
		if err := repo.Store(filepath.Join(stores, e.Name())).UnlockRefs(git.OwnRefs); err != nil {
			return fmt.Errorf("unlock the store %s: %w", e.Name(), err)
		}
	}
	return nil
}

package submodule

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/git"
)

// TestUnlockStores: the locks on refs of swarm in all stores go, and nothing else.
func TestUnlockStores(t *testing.T) {
	t.Parallel()
	stores := t.TempDir()
	repo := &git.Repo{Git: git.New(nil)}
	if err := UnlockStores(repo, filepath.Join(stores, "none")); err != nil {
		t.Errorf("without a folder: %v", err)
	}
	kept := map[string]bool{
		"a.git/refs/swarm/bases/1.lock":   false,
		"b.git/refs/swarm/r/a1/head.lock": false,
		"b.git/refs/swarm/r/a1/head":      true,
		"b.git/refs/heads/x.lock":         true,
		"other/refs/swarm/bases/1.lock":   true,
	}
	for name := range kept {
		file := filepath.Join(stores, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := UnlockStores(repo, stores); err != nil {
		t.Fatal(err)
	}
	for name, want := range kept {
		if _, err := os.Lstat(filepath.Join(stores, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it kept: %v", name, err, want)
		}
	}
}

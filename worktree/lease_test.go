package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/worktree/workspace"
)

// TestDropWhatGitLeftHalfMade holds that nothing stays of a registration whose
// git was killed at its first steps, and that others' stay.
func TestDropWhatGitLeftHalfMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit("a", "a\n")
	f.open()
	root := filepath.Join(f.root, ".git", "worktrees")
	for name, locked := range map[string]string{
		"a1.1": "", "a1.12": reason, "a1.1x": reason, "a2.1": reason, "a1.13": "mine",
	} {
		must(t, os.MkdirAll(filepath.Join(root, name), 0o700))
		if locked != "" {
			must(t, os.WriteFile(filepath.Join(root, name, "locked"), []byte(locked+"\n"), 0o600))
		}
	}
	w := workspace.Workspace{Name: "a1.1", Dir: filepath.Join(f.trees.Dir, "a1.1")}
	must(t, f.trees.Drop(t.Context(), w))
	left, err := os.ReadDir(root)
	must(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if want := []string{"a1.13", "a1.1x", "a2.1"}; !slices.Equal(names, want) {
		t.Errorf("left %q, want %q", names, want)
	}
}

package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/disk"
)

// TestSharedRulesFolders: a walk into depth makes each folder of its questions
// once, and a question about another folder finds none of them.
func TestSharedRulesFolders(t *testing.T) {
	t.Parallel()
	r := &sharedRules{ignorer: &ignorer{dir: t.TempDir()}, made: map[string]bool{"rules": true}}
	if err := os.Mkdir(filepath.Join(r.dir, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		folder, sub string
		want, gone  []string
	}{
		{"", "a", nil, []string{"a"}},
		{"a", "b", []string{"a"}, []string{"a/b"}},
		{"a/b", "c", []string{"a/b"}, []string{"a/b/c"}},
		{"a/x", "c", []string{"a/x"}, []string{"a/b", "a/x/c"}},
		{"rules/s", "t", []string{"rules/s"}, []string{"a", "rules/s/t"}},
		{"", "d", []string{"rules"}, []string{"rules/s", "d"}},
	} {
		if err := r.leave(step.folder); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(step.folder, step.sub)
		if err := os.MkdirAll(filepath.Join(r.dir, path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := r.clear([]string{filepath.Join(step.folder, "file"), path + "/"}); err != nil {
			t.Fatal(err)
		}
		for _, dir := range step.want {
			if _, err := os.Lstat(filepath.Join(r.dir, dir)); err != nil {
				t.Errorf("after %s: %v, want it to stay", path, err)
			}
		}
		for _, dir := range step.gone {
			if _, err := os.Lstat(filepath.Join(r.dir, dir)); !disk.Missing(err) {
				t.Errorf("after %s: %s is there (%v), want it gone", path, dir, err)
			}
		}
	}
}

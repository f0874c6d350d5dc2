package store

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRepositories(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "state")
	if all, err := Repositories(root); err != nil || len(all) != 0 {
		t.Errorf("without a state: %v, %v", all, err)
	}
	here := t.TempDir()
	for _, id := range []Identity{
		{TopLevel: here, CommonDir: filepath.Join(here, ".git")},
		{CommonDir: filepath.Join(here, "gone.git")},
	} {
		id.Workflow = Workflow{Kind: WorkflowPrompt, Text: "{}"}
		_, owner, err := Open(root, "r", id.CommonDir).Create(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"shared", "governor"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "shared"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	all, err := Repositories(root)
	if err != nil || len(all) != 2 {
		t.Fatalf("Repositories = %+v, %v, want 2", all, err)
	}
	found := map[string]bool{}
	for _, r := range all {
		found[r.Dir] = r.Gone
		if len(r.Runs) != 1 {
			t.Errorf("%s has %d runs, want 1", r.Dir, len(r.Runs))
		}
	}
	if gone, ok := found[here]; !ok || gone {
		t.Errorf("the checkout is %v", found)
	}
	if gone, ok := found[filepath.Join(here, "gone.git")]; !ok || !gone {
		t.Errorf("the bare repository is %v", found)
	}
}

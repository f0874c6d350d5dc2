package pool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/worktree/baseline"
	"agentswarm/worktree/workspace"
)

// TestTakeLost checks that a process that loses an entry to another finds the
// entry that was added meanwhile. Two concurrent agents never need more than
// two copies.
func TestTakeLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ok := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	p := Pool{Dir: filepath.Join(dir, "pool")}
	add := func(name string) {
		t.Helper()
		at := filepath.Join(p.Dir, name)
		record, err := json.Marshal(poolRecord{Backend: workspace.Copied, Base: "base", Time: time.Now()})
		ok(err, os.MkdirAll(filepath.Join(at, workspace.TreeName), 0o700), os.WriteFile(filepath.Join(at, poolRecordName), record, 0o600),
			os.WriteFile(filepath.Join(at, poolFilesName), baseline.Placed{}.Text(), 0o600))
	}
	add("first")
	w := &workspace.Workspace{Dir: filepath.Join(dir, "w"), Backend: workspace.Copied, Lower: filepath.Join(dir, "base", "tree")}
	ok(os.Mkdir(w.Dir, 0o700))
	p.Step = func(name string) error {
		if _, err := os.Stat(filepath.Join(p.Dir, "first")); name == "listed" && err == nil {
			add("second")
			ok(os.Rename(filepath.Join(p.Dir, "first"), filepath.Join(dir, "taken")))
		}
		return nil
	}
	stats, err := p.Take(t.Context(), TakeRequest{Workspace: w, Plain: func() bool { return true }})
	if err != nil || stats == nil {
		t.Fatalf("Take = %v, %v, want the files of the second entry", stats, err)
	}
	if _, err := os.Stat(w.Files()); err != nil {
		t.Error(err)
	}
	if stats, err := p.Take(t.Context(), TakeRequest{Workspace: w, Plain: func() bool { return true }}); stats != nil || err != nil {
		t.Errorf("Take of an empty pool = %v, %v", stats, err)
	}
}

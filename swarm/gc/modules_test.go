package gc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// TestGcListsModulesOnce: all removed runs share a list of submodules, and one that is
// damaged is named once and fails none of them.
func TestGcListsModulesOnce(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	init := exec.CommandContext(t.Context(), "git", "init", "-q", dir)
	init.Env = env
	damaged := filepath.Join(dir, ".git/modules/damaged")
	if err := init.Run(); err != nil {
		t.Fatal(err)
	}
	damage := func(at string) {
		t.Helper()
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "HEAD"), []byte("damaged\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	damage(damaged)
	repo, err := git.New(env).Discover(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	state := store.Open(t.TempDir(), "repo", dir)
	for _, run := range []string{"k3x9q2", "k3x9q3"} {
		at := filepath.Join(state.Trash(), "100-"+run+"-run")
		if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "lock"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	trashed, err := state.Trashed()
	if err != nil || len(trashed) != 2 {
		t.Fatalf("Trashed: %d, %v", len(trashed), err)
	}
	c := &collector{report: &Report{}, Request: Request{Remover: Remover{Repo: repo, State: state}, Now: time.Now()}}
	for _, run := range trashed {
		if err := c.dropModuleRefs(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		damage(filepath.Join(dir, ".git/modules/later")) // no second look finds it
	}
	if err := c.trashedRuns(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(c.report.Kept) != 1 || c.report.Kept[0].Path != damaged {
		t.Errorf("kept %+v, want %s once", c.report.Kept, damaged)
	}
	if len(c.report.Removed) != 2 {
		t.Errorf("removed %+v, want both runs", c.report.Removed)
	}
}

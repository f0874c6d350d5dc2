package gc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// TestGcListsModulesOnce: all removed runs share a list of submodules. A damaged
// submodule is named once and fails none of them.
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

// TestGcLooksAgain: a ref of a removed run that stayed in a damaged submodule goes
// with the first gc after the submodule is repaired.
func TestGcLooksAgain(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=u", "-c", "user.email=u"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	module := filepath.Join(dir, ".git/modules/sub")
	run("init", "-q")
	run("init", "-q", "--bare", "-b", "main", module)
	in := "--git-dir=" + module
	run(in, "update-ref", "refs/swarm/k3x9q2/landed/x", run(in, "commit-tree", "-m", "x", run(in, "hash-object", "-w", "-t", "tree", os.DevNull)))
	repo, err := git.New(env).Discover(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	state := store.Open(t.TempDir(), "repo", dir)
	at := filepath.Join(state.Trash(), "100-k3x9q2-run")
	if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "lock"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(module, "HEAD")
	collect := func(text string, steps ...func(*collector) error) *collector {
		t.Helper()
		if err := os.WriteFile(head, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		g := &collector{report: &Report{}, Request: Request{Remover: Remover{Repo: repo, State: state}, Now: time.Now()}}
		for _, step := range steps {
			if err := step(g); err != nil {
				t.Fatal(err)
			}
		}
		return g
	}
	again := func(g *collector) error { return g.moduleRefs(t.Context()) }
	g := collect("damaged\n", func(g *collector) error { return g.trashedRuns(t.Context()) }, again)
	if len(g.report.Removed) != 1 || len(g.report.Kept) != 1 || g.report.Kept[0].Path != module {
		t.Errorf("with a damaged submodule: removed %+v, kept %+v", g.report.Removed, g.report.Kept)
	}
	// A person put the run back, as from a backup: it needs its refs.
	back := filepath.Join(state.Dir, "runs", "k3x9q2")
	if err := os.MkdirAll(back, 0o700); err != nil {
		t.Fatal(err)
	}
	g = collect("ref: refs/heads/main\n", again)
	if len(g.report.Removed) != 0 || run(in, "for-each-ref") == "" {
		t.Errorf("refs of a run that is there again went: removed %+v", g.report.Removed)
	}
	if err := os.Remove(back); err != nil {
		t.Fatal(err)
	}
	g = collect("ref: refs/heads/main\n", again)
	if len(g.report.Removed) != 1 || len(g.report.Kept) != 0 || run(in, "for-each-ref") != "" {
		t.Errorf("with a repaired submodule: removed %+v, kept %+v", g.report.Removed, g.report.Kept)
	}
	if left, err := state.LeftModuleRefs(); err != nil || len(left) != 0 {
		t.Errorf("runs to look at again: %+v, %v", left, err)
	}
}

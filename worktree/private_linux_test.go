package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
	"agentswarm/worktree/trash"
	"agentswarm/worktree/workspace"
)

// TestPrivateLeaseKilledAtEveryStep ends a lease as a crash would: the rest is
// found by its record and removed.
func TestPrivateLeaseKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	eachOf(t, private(), leaseKilled)
}

func leaseKilled(t *testing.T, b workspace.Backend) {
	for _, step := range []string{"checked out", "settled", "based", "included", "recorded", "filled", "saved"} {
		if b == workspace.Reflink && !hasTurn(t, 0, b) {
			continue // in the gate copies stand for clones
		}
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n", ".gitignore", "*.o\n", include.FileName, "*.o\n")
			f.write(f.root, "x.o", "mine")
			f.open()
			f.private(b)
			f.include(base)
			f.dieInLease(step, f.leaseRequest("a1.1", base))
			f.private(b)
			f.include(base)
			var taken *TakenError
			if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &taken) {
				t.Errorf("Lease of a name that is taken = %v, want a TakenError", err)
			}
			strays, err := f.trees.Strays([]string{"a2.1"})
			if err != nil || len(strays) != 1 || strays[0].Name != "a1.1" {
				t.Fatalf("Strays = %+v, %v", strays, err)
			}
			late := []string{"recorded", "filled", "saved"}
			if b != workspace.Overlay {
				late = append(late, "included")
			}
			if recorded := slices.Contains(late, step); recorded != (strays[0].Backend == b) {
				t.Errorf("Strays = %+v", strays)
			}
			r, err := f.trees.Release(t.Context(), strays[0], nil)
			if err != nil || r.Trashed == "" || r.Kept != "" {
				t.Errorf("Release = %+v, %v, want it in the trash", r, err)
			}
			f.clean(&strays[0])
			w := f.lease(base)
			must(t, f.trees.Drop(t.Context(), *w))
			f.clean(w)
			must(t, f.trees.Close(), RemoveRun(f.trees.Dir))
			if left, err := os.ReadDir(f.trees.Dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left %v, %v", left, err)
			}
			for _, key := range first(f.basesIn()) {
				if left, err := os.ReadDir(filepath.Join(f.trees.Bases, key, "users")); err != nil || len(left) > 0 {
					t.Errorf("the base has users %v, %v", left, err)
				}
			}
		})
	}
}

func first(a, _ []string) []string { return a }

// TestPrivateLeaseFails holds that a lease that fails leaves nothing.
func TestPrivateLeaseFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", ".gitattributes", "a filter=bad\n")
	f.git("config", "filter.bad.smudge", "false")
	f.git("config", "filter.bad.required", "true")
	f.open()
	f.private(workspace.Overlay)
	var bad *git.Error
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &bad) {
		t.Errorf("Lease = %v, want git's error", err)
	}
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a2.1", git.Hash(strings.Repeat("1", 40)))); !errors.As(err, &bad) {
		t.Errorf("Lease of no commit = %v, want git's error", err)
	}
	f.trees.At = ""
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a3.1", base)); err == nil {
		t.Error("an overlay is leased that can be put nowhere")
	}
	if left, err := os.ReadDir(f.trees.Dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if whole, rest := f.basesIn(); len(whole)+len(rest) > 0 {
		t.Errorf("left %q and %q", whole, rest)
	}
}

// TestPrivateRelease checks the release of a workspace whose agent worked. The
// trash keeps the changes and the git dir, without the parts that only the
// kernel can read.
func TestPrivateRelease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	for _, step := range []string{"", "entered", "moved", "unregistered"} {
		w := f.lease(base)
		f.inside(w, "echo mine > a; rm -r d; mkdir -p ro/x; echo y > ro/x/y; chmod 555 ro/x ro; git commit -qam mine")
		if step != "" {
			f.step = killed(step)
			if _, err := f.trees.Release(t.Context(), *w, nil); !errors.Is(err, errKilled) {
				t.Fatalf("Release = %v, want it killed at %s", err, step)
			}
			f.step = nil
			f.trees = f.backend()
		}
		intended := workspace.Workspace{Name: w.Name, Dir: w.Dir, Base: base, Index: "x", Backend: workspace.Overlay}
		if step != "" {
			intended = *w
		}
		r, err := f.trees.Release(t.Context(), intended, nil)
		must(t, err)
		for path, there := range map[string]bool{
			"up/a": true, "up/ro/x/y": true, "git/HEAD": true, "wk": false,
		} {
			if _, err := os.Lstat(filepath.Join(r.Trashed, "tree", path)); (err == nil) != there {
				t.Errorf("killed at %q: %s in the trash: %v", step, path, err)
			}
		}
		text, err := os.ReadFile(filepath.Join(r.Trashed, "swarm-trash.json"))
		if err != nil || !strings.Contains(string(text), string(base)) {
			t.Errorf("the record says %s, %v, want its base", text, err)
		}
		f.clean(w)
		users, err := os.ReadDir(filepath.Join(filepath.Dir(w.Lower), "users"))
		if err != nil || len(users) > 0 {
			t.Errorf("killed at %q: the base has users %v, %v", step, users, err)
		}
		must(t, trash.Remove(r.Trashed))
	}
}

// TestPrivateReleaseRefuses holds that nothing is believed that leads elsewhere.
func TestPrivateReleaseRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.private(workspace.Overlay)
	w := f.lease(base)
	other := filepath.Join(f.trees.Bases, "x", workspace.TreeName)
	for _, change := range []func(*workspace.Workspace){
		func(w *workspace.Workspace) { w.Admin = f.repo.CommonDir },
		func(w *workspace.Workspace) { w.Lower = filepath.Join(f.home, workspace.TreeName) },
		func(w *workspace.Workspace) { w.Lower = other },
		func(w *workspace.Workspace) { w.Under = other },
		func(w *workspace.Workspace) { w.Lower += "/../index" },
		func(w *workspace.Workspace) { w.Along = f.home },
		func(w *workspace.Workspace) { w.Along = filepath.Join(f.trees.Dir, "a1.1") },
	} {
		wrong := *w
		change(&wrong)
		var outside *OutsideError
		if _, err := f.trees.Release(t.Context(), wrong, nil); !errors.As(err, &outside) {
			t.Errorf("Release(%+v) = %v, want an OutsideError", wrong, err)
		}
		must(t, writeRecord(&wrong))
		if strays, err := f.trees.Strays(nil); err != nil || len(strays) != 1 || strays[0].Private() {
			t.Errorf("Strays = %+v, %v, want no word of it believed", strays, err)
		}
	}
}

// TestNothingIsShared holds that nothing an agent writes in place reaches
// another workspace.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.write(f.root, ".git/hooks/pre-commit", "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(f.root, ".git/hooks/pre-commit"), 0o755))
	f.open()
	f.private(workspace.Overlay)
	w := f.lease(base)
	must(t, filepath.WalkDir(w.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := e.Info()
		if err != nil {
			return err
		}
		if n := at.Sys().(*syscall.Stat_t).Nlink; !e.IsDir() && n != 1 {
			t.Errorf("%s has %d names", path, n)
		}
		if at.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, at.Mode())
		}
		return nil
	}))
	at, err := os.Stat(filepath.Join(w.Shell, ".git/hooks/pre-commit"))
	if err != nil || at.Mode().Perm() != 0o700 {
		t.Errorf("the hook is %v, %v", at, err)
	}
}

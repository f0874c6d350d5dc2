package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// steps are all steps at which a hook is called, in order.
func steps() map[string][]string {
	return map[string][]string{
		"lease":   {"registered", "filled", "saved"},
		"private": {"checked out", "settled", "based", "recorded", "filled", "saved"}, // the first lease
		"capture": {"surveyed", "staged", "committed", "gathered", "patched", "published"},
		"release": {"entered", "moved", "unregistered"},
	}
}

// work is the work of these tests' agent: among it a commit, and a blob that
// only an index holds.
func work(f *fixture, w *workspace.Workspace) {
	f.t.Helper()
	f.write(f.at(w), "a", "committed\n")
	f.in(f.at(w), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "mine")
	f.write(f.at(w), "staged", "staged and unstaged\n")
	f.in(f.at(w), "add", "staged")
	f.in(f.at(w), "reset", "-q")
	f.write(f.at(w), "d/b", "untracked\n")
}

// TestPrunedAtEveryStep runs the user's housekeeping between all steps.
func TestPrunedAtEveryStep(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n", "d/b", "b\n")
		f.open()
		f.hide(base)
		f.git("commit", "-q", "--amend", "-m", "the user has another base")
		var seen []string
		prune := func() {
			f.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
			f.git("-c", "gc.pruneExpire=now", "gc", "-q", "--prune=now")
			f.git("repack", "-q", "-a", "-d")
			f.git("prune", "--expire=now")
			f.git("worktree", "prune", "--expire=now")
		}
		f.step = func(name string) error {
			seen = append(seen, name)
			prune()
			return nil
		}
		w := f.lease(base)
		work(f, w)
		prune()
		c := f.capture(w)
		want := []string{"100644 a", "100644 d/b", "100644 staged"}
		if got := f.files(c.Tree); !slices.Equal(got, want) {
			t.Errorf("tree = %q, want %q", got, want)
		}
		_, err := f.release(w, c)
		must(t, err)
		prune()
		f.git("fsck", "--strict")
		if got := f.show(c.Head, "a"); got != "committed\n" {
			t.Errorf("the agent's commit holds %q", got)
		}
		if got := f.show(c.Commit, "staged"); got != "staged and unstaged\n" {
			t.Errorf("staged = %q", got)
		}
		lease := "private"
		if b == workspace.Linked {
			lease = "lease"
		}
		all := slices.Concat(steps()[lease], steps()["capture"], steps()["release"])
		if !slices.Equal(seen, all) {
			t.Errorf("steps = %q, want %q", seen, all)
		}
	})
}

// TestPrunedWhileStaging takes a blob away that is in the repository already.
// Git finds it there and does not write it again; we write it anyway.
func TestPrunedWhileStaging(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		for _, tt := range []struct {
			name, content string
			linked        bool // where objects are shared, all is staged again
		}{{"in process", "new\n", false}, {"by git", "new\r\n", true}} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				base := f.commit("a", "a\n", ".gitattributes", "*.x text\n")
				f.open()
				w := f.lease(base)
				f.write(f.at(w), "n", tt.content)
				f.in(f.at(w), "add", "n")
				f.in(f.at(w), "reset", "-q")
				surveys := 0
				f.step = func(name string) error {
					switch name {
					case "surveyed":
						surveys++
					case "staged":
						f.git("prune", "--expire=now")
					}
					return nil
				}
				c := f.capture(w)
				if got := f.show(c.Commit, "n"); got != tt.content {
					t.Errorf("n = %q", got)
				}
				want := 1
				if tt.linked && b == workspace.Linked {
					want = 2
				}
				if surveys != want {
					t.Errorf("%d surveys, want %d", surveys, want)
				}
			})
		}
	})
}

var errKilled = errors.New("killed")

// killed is a hook that ends the work at a step, as if the process had died.
func killed(step string) func(string) error {
	return func(name string) error {
		if name == step {
			return errKilled
		}
		return nil
	}
}

// dieInLease leases a workspace and dies at a step of that.
func (f *fixture) dieInLease(step string, r LeaseRequest) {
	f.t.Helper()
	f.step = killed(step)
	defer func() { f.step = nil }()
	if _, err := f.trees.Lease(f.t.Context(), r); !errors.Is(err, errKilled) {
		f.t.Fatalf("Lease = %v, want it killed at %q", err, step)
	}
}

// TestKilledAtEveryStep ends the work at a step as a crash would and does it
// again in another process's name.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		for _, phase := range []string{"capture", "release"} {
			for i, step := range steps()[phase] {
				// The release of a linked worktree is another than that of the rest.
				if !hasTurn(t, i, b) && (phase == "capture" || b == workspace.Reflink || b == workspace.Copied) {
					continue
				}
				t.Run(phase+" "+step, func(t *testing.T) {
					t.Parallel()
					f := fixtureOn(t, b)
					base := f.commit("a", "a\n", "d/b", "b\n", ".gitignore", "*.o\n")
					f.open()
					f.hide(base)
					w := f.lease(base)
					work(f, w)
					die := func(name string) error {
						if name == step {
							return errKilled
						}
						return nil
					}
					f.step = die
					c, err := f.trees.Capture(t.Context(), f.captureRequest(w))
					if (phase == "capture") != errors.Is(err, errKilled) {
						t.Fatalf("Capture = %v", err)
					}
					f.trees = f.backend()
					if phase == "capture" {
						f.step = nil
						c = f.capture(w)
						if c.Ref != f.captureRequest(w).Ref || c.HeadRef != f.captureRequest(w).HeadRef {
							t.Errorf("the same capture went to %s and %s", c.Ref, c.HeadRef)
						}
					}
					if got := f.show(c.Commit, "staged"); got != "staged and unstaged\n" {
						t.Errorf("staged = %q", got)
					}
					if phase == "release" {
						if _, err := f.release(w, c); !errors.Is(err, errKilled) {
							t.Fatalf("Release = %v", err)
						}
						f.git("worktree", "list")
						f.git("worktree", "prune")
					}
					f.step = nil
					f.trees = f.backend()
					for range 2 {
						r, err := f.release(w, c)
						if err != nil || r.Trashed != "" || r.Kept != "" {
							t.Errorf("Release = %+v, %v, want it removed", r, err)
						}
					}
					f.clean(w)
				})
			}
		}
	})
}

// clean checks that nothing of a workspace is left outside of the trash.
func (f *fixture) clean(w *workspace.Workspace) {
	f.t.Helper()
	for _, path := range []string{w.Dir, w.Admin, f.captureRequest(w).Objects} {
		if _, err := os.Lstat(path); err == nil {
			f.t.Errorf("%s is left", path)
		}
	}
	if got := f.git("worktree", "list", "--porcelain"); strings.Contains(got, w.Dir) {
		f.t.Errorf("still registered:\n%s", got)
	}
	kept, _ := filepath.Glob(filepath.Join(f.root, ".git/objects/pack/*.keep"))
	for _, path := range kept {
		if text, err := os.ReadFile(path); err != nil || git.InTransit(text) {
			f.t.Errorf("left %s, %v", path, err)
		}
	}
}

// hide has the refs of captures live elsewhere, and holds a base, as a run does.
func (f *fixture) hide(base git.Hash) {
	f.t.Helper()
	f.repo.HideRefs(filepath.Join(f.state, "refs.git"))
	must(f.t, f.repo.UpdateRefs(f.t.Context(), "base", git.RefUpdate{Ref: git.OwnRefs + "k3x9q2/base", New: base}))
}

func TestLeaseKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range steps()["lease"] {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n")
			f.open()
			f.dieInLease(step, f.leaseRequest("a1.1", base))
			f.trees = f.backend()
			var taken *TakenError
			if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &taken) {
				t.Errorf("Lease of a name that is taken = %v, want a TakenError", err)
			}
			strays, err := f.trees.Strays([]string{"a2.1"})
			if err != nil || len(strays) != 1 || strays[0].Name != "a1.1" || strays[0].Admin == "" {
				t.Fatalf("Strays = %+v, %v", strays, err)
			}
			if known, err := f.trees.Strays([]string{"a1.1"}); err != nil || len(known) > 0 {
				t.Errorf("Strays of what is known = %+v, %v", known, err)
			}
			r, err := f.trees.Release(t.Context(), strays[0], nil)
			if err != nil || r.Trashed == "" {
				t.Errorf("Release = %+v, %v, want it in the trash", r, err)
			}
			f.clean(&strays[0])
			f.lease(base)
		})
	}
}

func TestLeaseFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", ".gitattributes", "a filter=bad\n")
	f.git("config", "filter.bad.smudge", "false")
	f.git("config", "filter.bad.required", "true")
	f.open()
	var bad *git.Error
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", base)); !errors.As(err, &bad) {
		t.Errorf("Lease = %v, want git's error", err)
	}
	if _, err := f.trees.Lease(t.Context(), f.leaseRequest("a2.1", git.Hash(strings.Repeat("1", 40)))); !errors.As(err, &bad) {
		t.Errorf("Lease of no commit = %v, want git's error", err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "../a", "-a", ".a", "a b", "a\n"} {
		var wrong *workspace.NameError
		if _, err := f.trees.Lease(t.Context(), f.leaseRequest(name, base)); !errors.As(err, &wrong) {
			t.Errorf("Lease(%q) = %v, want a NameError", name, err)
		}
	}
	left, err := os.ReadDir(f.trees.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if got := f.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
		t.Errorf("left a registration: %s", got)
	}
	for _, name := range []string{"a1.1", "a2.1"} {
		if _, err := os.Lstat(f.leaseRequest(name, base).Saved); err == nil {
			t.Errorf("left the index of %s", name)
		}
	}
}

// TestLeaseRetries has a git that finds a lock taken once. It changes PATH,
// and so cannot be parallel.
func TestLeaseRetries(t *testing.T) {
	real, err := exec.LookPath("git")
	must(t, err)
	f := newFixture(t)
	base := f.commit("a", "a\n")
	bin := filepath.Join(f.home, "bin")
	f.script(filepath.Join(bin, "git"), `case "$*" in *"worktree add"*)
	if mkdir '`+bin+`/once' 2>/dev/null; then
		'`+real+`' "$@" # what is left of it must not be in the way
		echo "fatal: Unable to create '/r/.git/config.lock': File exists." >&2
		exit 128
	fi ;; esac
	exec '`+real+`' "$@"
	`)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	f.open()
	w := f.lease(base)
	if _, err := os.Lstat(filepath.Join(bin, "once")); err != nil {
		t.Error("the first try was not made to fail")
	}
	if got := f.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 2 {
		t.Errorf("registered: %s", got)
	}
	f.capture(w)
}

func TestLeaseCancelled(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	unlock, err := lockFile(t.Context(), f.trees.LockFile)
	must(t, err)
	ctx, cancel := contextWithCause(t)
	cancel(errKilled)
	if _, err := f.trees.Lease(ctx, f.leaseRequest("a1.1", base)); !errors.Is(err, errKilled) {
		t.Errorf("Lease while another process registers = %v, want the cause", err)
	}
	must(t, unlock())
	// A cancel in the middle takes the registration back.
	ctx, cancel = contextWithCause(t)
	f.step = func(name string) error {
		if name == "registered" {
			cancel(errKilled)
		}
		return nil
	}
	if _, err := f.trees.Lease(ctx, f.leaseRequest("a2.1", base)); !errors.Is(err, errKilled) {
		t.Errorf("Lease = %v, want the cause", err)
	}
	if got := f.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 1 {
		t.Errorf("left a registration: %s", got)
	}
	if left, err := os.ReadDir(f.trees.Dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

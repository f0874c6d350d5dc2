package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/worktree/trash"
	"agentswarm/worktree/workspace"
)

func contextWithCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

func TestReleaseTrashes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		act     func(f *fixture, w *workspace.Workspace)
		later   func(f *fixture, w *workspace.Workspace, c *Capture) *Capture
		trashed string // a file that must be in the trash; empty: removed
	}{
		{name: "all captured", act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "n", "n\n") }},
		{
			name: "read-only folders", act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "ro/d/n", "n\n")
				must(f.t, os.Chmod(filepath.Join(f.at(w), "ro/d"), 0o555), os.Chmod(filepath.Join(f.at(w), "ro"), 0o555))
			},
		},
		{
			name: "something ignored", trashed: "tree/x.o",
			act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "x.o", "1") },
		},
		{
			name: "changed after the capture", trashed: "tree/a", act: func(*fixture, *workspace.Workspace) {},
			later: func(f *fixture, w *workspace.Workspace, c *Capture) *Capture {
				f.write(f.at(w), "a", "late\n")
				return c
			},
		},
		{
			name: "a new file after the capture", trashed: "tree/d/late", act: func(*fixture, *workspace.Workspace) {},
			later: func(f *fixture, w *workspace.Workspace, c *Capture) *Capture {
				f.write(f.at(w), "d/late", "late\n")
				return c
			},
		},
		{
			name: "no capture", trashed: "tree/n",
			act:   func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "n", "n\n") },
			later: func(*fixture, *workspace.Workspace, *Capture) *Capture { return nil },
		},
		{
			name: "git dirs of submodules", trashed: "modules/m/HEAD",
			act: func(f *fixture, w *workspace.Workspace) { f.write(w.Admin, "modules/m/HEAD", "x") },
		},
		{
			name: "a symlink in place of the workspace", trashed: "tree",
			act: func(*fixture, *workspace.Workspace) {},
			later: func(f *fixture, w *workspace.Workspace, c *Capture) *Capture {
				must(f.t, os.Rename(w.Dir, w.Dir+".moved"), os.Symlink(f.home, w.Dir))
				return c
			},
		},
	}
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				base := f.commit("a", "a\n", ".gitignore", "*.o\n")
				f.open()
				w := f.lease(base)
				tt.act(f, w)
				c := f.capture(w)
				if tt.later != nil {
					c = tt.later(f, w, c)
				}
				f.write(f.home, "bystander", "x")
				r, err := f.release(w, c)
				must(t, err)
				if (r.Trashed != "") != (tt.trashed != "") {
					t.Errorf("Release = %+v, want trashed: %q", r, tt.trashed)
				}
				if tt.trashed != "" {
					if _, err := os.Lstat(filepath.Join(r.Trashed, f.inTrash(tt.trashed))); err != nil {
						t.Error(err)
					}
				}
				if _, err := os.Lstat(filepath.Join(f.home, "bystander")); err != nil {
					t.Error(err)
				}
				f.clean(w)
				again, err := f.release(w, c)
				if err != nil || again != r {
					t.Errorf("Release again = %+v, %v, want %+v", again, err, r)
				}
				left, err := os.ReadDir(f.trees.Trash)
				if want := len(tt.trashed) > 0; err != nil || (len(left) > 0) != want {
					t.Errorf("the trash holds %v, %v", left, err)
				}
			})
		}
	})
}

func TestReleaseRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.lease(base)
	for _, wrong := range []workspace.Workspace{
		{Name: "a1.1", Dir: f.root},
		{Name: "..", Dir: filepath.Dir(f.trees.Dir)},
		{Name: "x/../../y", Dir: filepath.Join(f.trees.Dir, "x/../../y")},
		{Name: w.Name, Dir: w.Dir, Admin: filepath.Join(f.root, ".git")},
		{Name: w.Name, Dir: w.Dir, Admin: filepath.Join(f.root, ".git", "worktrees", "x", "..", "..")},
		{},
	} {
		var outside *OutsideError
		if _, err := f.trees.Release(t.Context(), wrong, nil); !errors.As(err, &outside) {
			t.Errorf("Release(%+v) = %v, want an OutsideError", wrong, err)
		}
		r := f.captureRequest(w)
		r.Workspace = wrong
		if _, err := f.trees.Capture(t.Context(), r); !errors.As(err, &outside) {
			t.Errorf("Capture(%+v) = %v, want an OutsideError", wrong, err)
		}
	}
}

// TestReleaseKeepsForeignRegistration keeps a registration that leads
// elsewhere: the user's, or a registration that the agent moved.
func TestReleaseKeepsForeignRegistration(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.lease(base)
	users := filepath.Join(f.home, "users")
	f.git("worktree", "add", "-q", users)
	foreign := *w
	foreign.Admin = filepath.Join(f.repo.CommonDir, "worktrees", "users")
	r, err := f.trees.Release(t.Context(), foreign, nil)
	if err != nil || r.Kept != foreign.Admin {
		t.Errorf("Release = %+v, %v, want %s kept", r, err, foreign.Admin)
	}
	f.in(users, "status")
}

func TestSweep(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n", ".gitignore", "*.o\n")
		f.open()
		var entries []string
		for range 3 {
			w := f.lease(base)
			f.write(f.at(w), "x.o", string(make([]byte, 1_000_000)))
			must(t, os.Mkdir(filepath.Join(f.at(w), "closed"), 0))
			r, err := f.release(w, f.capture(w))
			must(t, err)
			entries = append(entries, r.Trashed)
		}
		// Files that swarm did not put there, or that may be foreign.
		f.write(f.trees.Trash, "1-k3x9q2-a9.1/mine", "x", "notes.txt", "x",
			"2-k3x9q2-a9.1/"+"swarm-trash.json", `{"entry":"other"}`, "3-x/"+"swarm-trash.json", "{")
		const trashAge, trashSize = 7 * 24 * time.Hour, 5 << 30
		now := time.Now()
		sweep := func(r trash.SweepRequest) int {
			t.Helper()
			r.Trash = f.trees.Trash
			gone, _, err := trash.Sweep(t.Context(), r)
			must(t, err)
			for _, s := range gone {
				if s.Run != "k3x9q2" || s.Size < 1_000_000 {
					t.Errorf("swept %+v", s)
				}
			}
			return len(gone)
		}
		if n := sweep(trash.SweepRequest{Now: now, Age: trashAge, Size: trashSize}); n != 0 {
			t.Errorf("swept %d young entries, want none", n)
		}
		if n := sweep(trash.SweepRequest{Now: now.Add(trashAge + time.Hour), Age: trashAge, Size: trashSize, DryRun: true}); n != 3 {
			t.Errorf("would sweep %d old entries, want 3", n)
		}
		if n := sweep(trash.SweepRequest{Now: now, Age: trashAge, Size: 3_000_000}); n != 1 {
			t.Errorf("swept %d for room, want the oldest", n)
		}
		if _, err := os.Lstat(entries[0]); err == nil {
			t.Error("it was not the oldest that went")
		}
		if n := sweep(trash.SweepRequest{Now: now.Add(trashAge + time.Hour), Age: trashAge, Size: trashSize}); n != 2 {
			t.Errorf("swept %d old entries, want 2", n)
		}
		left, err := os.ReadDir(f.trees.Trash)
		if err != nil || len(left) != 4 {
			t.Errorf("the trash holds %v, %v, want what is not ours", left, err)
		}
		if gone, _, err := trash.Sweep(t.Context(), trash.SweepRequest{Trash: filepath.Join(f.home, "none"), Now: now}); err != nil || gone != nil {
			t.Errorf("Sweep of no trash = %v, %v", gone, err)
		}
	})
}

package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
	"agentswarm/worktree/workspace"
)

// TestBring checks how included files are copied, and the files in their way.
func TestBring(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n", ".gitignore", "*.o\n/i/\n/ln/\n/file\n", include.FileName, "*\n",
			"real/keep", "k\n", "i/tracked", "t\n")
		// Another base, where others things are at these paths.
		must(t, os.Symlink("real", filepath.Join(f.root, "ln")))
		f.write(f.root, "x.o", "of the base\n", "file", "a file\n")
		f.git("add", "-f", "ln", "x.o", "file")
		f.git("commit", "-qm", "other")
		other := git.Hash(f.git("rev-parse", "HEAD"))
		f.git("reset", "-q", "--hard", string(base))
		when := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		f.write(f.root, "x.o", "mine\n", "i/run", "#!/bin/sh\n", "i/ro/x", "x", "ln/hidden", "h\n", "file/in", "in\n", "i/big",
			strings.Repeat("0123456789", 300_000), "i/gone", "g", "i/moved/x", "m")
		must(t, os.Chmod(filepath.Join(f.root, "i/run"), 0o755), os.Chmod(filepath.Join(f.root, "i/ro/x"), 0o440),
			os.Chmod(filepath.Join(f.root, "i/ro"), 0o555), os.Chtimes(filepath.Join(f.root, "i/big"), when, when),
			os.Symlink("/nowhere", filepath.Join(f.root, "i/abs")))
		f.open()
		in := f.include(base)
		if want := 10; in.Files != want || in.Size < 3_000_000 {
			t.Errorf("%d files of %d bytes, want %d files", in.Files, in.Size, want)
		}
		// These vanish or lead elsewhere after they were listed.
		rm(f, filepath.Join(f.root, "i/gone"), filepath.Join(f.root, "i/moved"))
		f.write(f.home, "moved/x", "secret\n")
		must(t, os.Symlink(filepath.Join(f.home, "moved"), filepath.Join(f.root, "i/moved")))

		w := f.lease(base)
		for path, mode := range map[string]os.FileMode{"i/run": 0o755, "i/ro/x": 0o440, "i/big": 0o644} {
			at, err := os.Lstat(filepath.Join(f.at(w), path))
			if err != nil || at.Mode() != mode {
				t.Errorf("%s: %v, %v, want mode %v", path, at, err, mode)
			}
			want, err := os.ReadFile(filepath.Join(f.root, path))
			must(t, err)
			if got, err := os.ReadFile(filepath.Join(f.at(w), path)); err != nil || string(got) != string(want) {
				t.Errorf("%s has %d bytes, %v, want %d", path, len(got), err, len(want))
			}
		}
		if at, err := os.Lstat(filepath.Join(f.at(w), "i/big")); err != nil || !at.ModTime().Equal(when) {
			t.Errorf("the time of i/big is not kept: %v", err)
		}
		if target, err := os.Readlink(filepath.Join(f.at(w), "i/abs")); err != nil || target != "/nowhere" {
			t.Errorf("i/abs leads to %q, %v", target, err)
		}
		for _, path := range []string{"i/gone", "i/moved/x"} {
			if _, err := os.Lstat(filepath.Join(f.at(w), path)); err == nil {
				t.Errorf("%s came along", path)
			}
		}
		r, err := f.release(w, f.capture(w))
		if err != nil || r.Trashed != "" {
			t.Errorf("Release = %+v, %v, want it removed", r, err)
		}

		w = f.lease(other)
		for path, want := range map[string]string{"x.o": "of the base\n", "file": "a file\n"} {
			if got, err := os.ReadFile(filepath.Join(f.at(w), path)); err != nil || string(got) != want {
				t.Errorf("%s = %q, %v, want the base's", path, got, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(f.at(w), "real/hidden")); err == nil {
			t.Error("a file came along through a symlink")
		}
		if c := f.capture(w); c.Changed || len(c.Ignored) > 0 {
			t.Errorf("Capture = %+v, want no change", c)
		}
	})
}

// TestIncludedAreNoWork lets agents change included files.
func TestIncludedAreNoWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		tests := []struct {
			name    string
			ignore  string // rules of the base; empty: as the checkout's
			act     func(f *fixture, w *workspace.Workspace)
			later   func(f *fixture, w *workspace.Workspace) // after the capture
			want    string                                   // changes from the base, as for wantChanged
			ignored []string
			trashed bool
		}{
			{name: "nothing", act: func(*fixture, *workspace.Workspace) {}},
			{name: "work beside them", act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "n", "n\n") }, want: "A n"},
			{
				name: "one is changed", act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), ".env", "other\n") },
				ignored: []string{".env"}, trashed: true,
			},
			{
				name: "one is changed to the same size and time",
				act: func(f *fixture, w *workspace.Workspace) {
					path := filepath.Join(f.at(w), "i/d/x")
					at, err := os.Lstat(path)
					must(f.t, err)
					f.write(f.at(w), "i/d/x", strings.Repeat("y", int(at.Size())))
					must(f.t, os.Chtimes(path, at.ModTime(), at.ModTime()))
				},
				ignored: []string{"i/"}, trashed: true,
			},
			{
				name: "a new one among them", act: func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "i/new", "12") },
				ignored: []string{"i/"}, trashed: true,
			},
			{name: "some are gone", act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), ".env"), filepath.Join(f.at(w), "i/d"))
			}},
			{
				name:    "one is changed after the capture",
				act:     func(*fixture, *workspace.Workspace) {},
				later:   func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "i/d/x", "late\n") },
				trashed: true,
			},
			{
				name: "the base ignores none of them", ignore: "# nothing\n",
				act: func(f *fixture, w *workspace.Workspace) {
					f.write(f.at(w), ".env", "changed\n", "i/agent", "a\n")
				},
				want: "A i/agent", ignored: []string{".env"}, trashed: true,
			},
		}
		for i, tt := range tests {
			if !hasTurn(t, i, b) {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				ignore := ".env\n/i/\n"
				if tt.ignore != "" {
					ignore = tt.ignore
				}
				base := f.commit("a", "a\n", ".gitignore", ignore, include.FileName, "*\n")
				f.write(f.root, ".gitignore", ".env\n/i/\n", ".env", "secret\n", "i/d/x", "x\n", "i/y", "y\n")
				f.open()
				f.include(base)
				w := f.lease(base)
				tt.act(f, w)
				f.trees = f.backend() // another process
				c := f.capture(w)
				wantChanged(tt.want)(f, w, c)
				var ignored []string
				for _, i := range c.Ignored {
					ignored = append(ignored, i.Path)
					if i.Files != 1 {
						t.Errorf("ignored %+v, want one file", i)
					}
				}
				if !slices.Equal(ignored, tt.ignored) {
					t.Errorf("ignored = %q, want %q", ignored, tt.ignored)
				}
				if tt.later != nil {
					tt.later(f, w)
				}
				r, err := f.release(w, c)
				if err != nil || (r.Trashed != "") != tt.trashed {
					t.Errorf("Release = %+v, %v, want trashed = %v", r, err, tt.trashed)
				}
				text, err := os.ReadFile(filepath.Join(f.root, ".env"))
				if err != nil || string(text) != "secret\n" {
					t.Errorf("the user's .env = %q, %v", text, err)
				}
			})
		}
	})
}

// TestRestoreMeetsIncluded has a commit with other entries in place of included
// files.
func TestRestoreMeetsIncluded(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n", include.FileName, "*\n")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), "x", "work\n", "d", "a file\n", "f/in", "in\n", "g/.gitattributes", "* text\n")
		c := f.capture(w)
		f.write(f.root, ".gitignore", "*\n", "x", "mine\n", "d/mine", "m\n", "f", "mine\n", "g", "mine\n", "other", "o\n")
		f.include(base)
		next := f.restore(base, c.Commit)
		again := f.capture(next)
		if again.Tree != c.Tree || len(again.Ignored) > 0 {
			t.Errorf("captured %q, ignored %v, want %q", f.files(again.Tree), again.Ignored, f.files(c.Tree))
		}
		if _, err := os.Lstat(filepath.Join(f.at(next), "other")); err != nil {
			t.Errorf("what was in nobody's way is gone: %v", err)
		}
		r, err := f.release(next, again)
		if err != nil || r.Trashed != "" {
			t.Errorf("Release = %+v, %v, want it removed", r, err)
		}
	})
}

// TestIncludeCleansUp leaves no record of a workspace that was not made, and
// counts the included files before it is made.
func TestIncludeCleansUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", ".gitignore", "*.o\n", include.FileName, "*.o\n")
	f.write(f.root, "x.o", strings.Repeat("x", 100_000))
	f.open()
	without, err := f.trees.Footprint(t.Context(), base)
	must(t, err)
	in := f.include(base)
	with, err := f.trees.Footprint(t.Context(), base)
	if err != nil || with-without != in.Size || in.Size < 100_000 {
		t.Errorf("Footprint = %d, %v, want %d + %d", with, err, without, in.Size)
	}
	ctx, cancel := contextWithCause(t)
	f.step = func(name string) error {
		if name == "included" {
			cancel(errKilled)
			return errKilled
		}
		return nil
	}
	l := f.leaseRequest("a1.1", base)
	if _, err := f.trees.Lease(ctx, l); err == nil {
		t.Fatal("Lease succeeded")
	}
	// A crash there leaves a stray, and a record that the next lease drops.
	f.step = nil
	f.trees = f.backend()
	strays, err := f.trees.Strays(nil)
	if err != nil || len(strays) != 1 {
		t.Fatalf("Strays = %+v, %v", strays, err)
	}
	must(t, f.trees.Drop(t.Context(), strays[0]))
	w, err := f.trees.Lease(t.Context(), l)
	must(t, err)
	if _, err := os.Lstat(w.PlacedFile()); err == nil {
		t.Error("the record of the crash is left")
	}
	// The checkout is gone: nothing is left of the lease.
	f.trees.Include = &include.Set{Top: filepath.Join(f.home, "none"), Paths: in.Paths}
	l = f.leaseRequest("a2.1", base)
	if _, err := f.trees.Lease(t.Context(), l); err == nil {
		t.Error("Lease without a checkout succeeded")
	}
	if _, err := os.Lstat(filepath.Join(f.trees.Dir, "a2.1")); err == nil {
		t.Error("the workspace is left")
	}
}

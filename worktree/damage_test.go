package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/workspace"
)

// TestDamagedConfig has agents that break the configuration they share with
// the user.
func TestDamagedConfig(t *testing.T) {
	t.Parallel()
	damages := []struct{ name, config string }{
		{"garbage", "[core\n"},
		{"another object format", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n"},
		{"an extension of the wrong version", "[core]\n\trepositoryformatversion = 0\n[extensions]\n\tobjectFormat = sha256\n"},
		{"an unknown extension", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuture = true\n"},
	}
	works := map[string]func(f *fixture, w *workspace.Workspace){
		"a change": func(f *fixture, w *workspace.Workspace) { f.write(w.Dir, "n", "n\n") },
		"a commit and no change": func(f *fixture, w *workspace.Workspace) {
			f.in(w.Dir, "commit", "-q", "--allow-empty", "-m", "mine")
		},
	}
	for _, d := range damages {
		for work, act := range works {
			t.Run(d.name+", "+work, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				base := f.commit("a", "a\n")
				f.open()
				w := f.lease(base)
				act(f, w)
				file := filepath.Join(f.root, ".git", "config")
				good, err := os.ReadFile(file)
				must(t, err)
				must(t, os.WriteFile(file, []byte(d.config), 0o600))
				var damaged *DamagedError
				_, err = f.trees.Capture(t.Context(), f.captureRequest(w))
				if !errors.As(err, &damaged) || !strings.Contains(err.Error(), file) ||
					!strings.Contains(err.Error(), "swarm resume") {
					t.Errorf("Capture = %v, want a DamagedError that names %s", err, file)
				}
				_, err = f.trees.Lease(t.Context(), f.leaseRequest("a2.1", base))
				if !errors.As(err, &damaged) || !strings.Contains(err.Error(), file) {
					t.Errorf("Lease = %v, want a DamagedError that names %s", err, file)
				}
				must(t, os.WriteFile(file, good, 0o600))
				if c := f.capture(w); c.Changed == (c.Head != "") || len(c.Notes) > 0 {
					t.Errorf("captured %+v after it was mended", c)
				}
			})
		}
	}
}

// TestStraysWithoutFolder finds registrations that a crash left alone.
func TestStraysWithoutFolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.git("worktree", "add", "-q", "--detach", filepath.Join(f.home, "users"))
	w, other := f.lease(base), f.lease(base)
	rm(f, w.Dir, other.Dir)
	f.trees = f.backend()
	strays, err := f.trees.Strays([]string{other.Name})
	if err != nil || len(strays) != 1 || strays[0].Dir != w.Dir || strays[0].Admin != w.Admin {
		t.Fatalf("Strays = %+v, %v, want %s", strays, err, w.Name)
	}
	for range 2 {
		if r, err := f.trees.Release(t.Context(), strays[0], nil); err != nil || r != (Released{}) {
			t.Errorf("Release = %+v, %v", r, err)
		}
	}
	f.clean(w)
	if got := f.git("worktree", "list", "--porcelain"); strings.Count(got, "worktree ") != 3 {
		t.Errorf("registered: %s, want the user's and the known one", got)
	}
}

// TestStraysHalfRemoved finds the rest of a registration whose removal was cut
// off, whether or not the folder exists.
func TestStraysHalfRemoved(t *testing.T) {
	t.Parallel()
	for _, there := range []bool{true, false} {
		f := newFixture(t)
		base := f.commit("a", "a\n")
		f.open()
		w, other := f.lease(base), f.lease(base)
		must(t, os.Remove(filepath.Join(w.Admin, "gitdir")))
		if !there {
			rm(f, w.Dir)
		}
		f.trees = f.backend()
		strays, err := f.trees.Strays([]string{other.Name})
		if err != nil || len(strays) != 1 || strays[0].Dir != w.Dir || strays[0].Admin != w.Admin {
			t.Fatalf("Strays = %+v, %v, want %s", strays, err, w.Name)
		}
		if r, err := f.trees.Release(t.Context(), strays[0], nil); err != nil || there == (r.Trashed == "") {
			t.Errorf("Release = %+v, %v", r, err)
		}
		f.clean(w)
		if left, err := os.ReadDir(filepath.Dir(w.Admin)); err != nil || len(left) != 1 {
			t.Errorf("registered are %v (%v), want the known one", left, err)
		}
	}
}

// TestDropHalfMade removes the rest of a registration that a killed git made or
// removed. It keeps registrations that may belong to others.
func TestDropHalfMade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		locked string // content of the file of this name; "-": there is none
		want   bool
	}{{"-", true}, {"", true}, {reason + "\n", true}, {"mine\n", false}} {
		f := newFixture(t)
		base := f.commit("a", "a\n")
		f.open()
		w := f.lease(base)
		must(t, os.Remove(filepath.Join(w.Admin, "gitdir")))
		must(t, os.Remove(filepath.Join(w.Admin, "locked")))
		if test.locked != "-" {
			must(t, os.WriteFile(filepath.Join(w.Admin, "locked"), []byte(test.locked), 0o600))
		}
		unnamed := *w
		unnamed.Admin = ""
		if err := f.trees.Drop(t.Context(), unnamed); err != nil {
			t.Errorf("Drop = %v", err)
		}
		if _, err := os.Lstat(w.Admin); errors.Is(err, fs.ErrNotExist) != test.want {
			t.Errorf("locked is %q: the registration is %v, want it gone: %t", test.locked, err, test.want)
		}
	}
}

// TestTrashWithoutRecord leaves no entry whose record cannot be written: its
// path is too long.
func TestTrashWithoutRecord(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	w := f.lease(base)
	deep := f.trees.Trash
	for left := unix.PathMax - 30 - len(deep); left > 1; left = unix.PathMax - 30 - len(deep) {
		deep = filepath.Join(deep, strings.Repeat("d", min(left-1, 200)))
	}
	must(t, os.MkdirAll(deep, 0o700))
	f.trees.Trash = deep
	if r, err := f.trees.Release(t.Context(), *w, nil); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("Release = %+v, %v, want a name that is too long", r, err)
	}
	if left, err := os.ReadDir(deep); err != nil || len(left) > 0 {
		t.Errorf("the trash holds %v, %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(w.Dir, "a")); err != nil {
		t.Errorf("the workspace is gone: %v", err)
	}
}

package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/worktree/bases"
	"agentswarm/worktree/workspace"
)

// TestBrokenBase removes or replaces a part of a base. The next run makes the
// base anew, also while another run works on it, and so does the run that holds
// it.
func TestBrokenBase(t *testing.T) {
	t.Parallel()
	overwrite := func(name, text string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	without := func(name string) func(dir string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
	}
	for name, harm := range map[string]func(dir string) error{
		"no index":             without("index"),
		"an empty index":       overwrite("index", ""),
		"an index cut short":   func(dir string) error { return os.Truncate(filepath.Join(dir, "index"), 40) },
		"no files":             without("tree/a"),
		"no checkout":          without("tree"),
		"nowhere for .git":     without("tree/.git"),
		"no users":             without("users"),
		"users that are none":  func(dir string) error { return swap(filepath.Join(dir, "users")) },
		"no record":            without("base.json"),
		"half a record":        overwrite("base.json", `{"commit":`),
		"nothing":              os.RemoveAll,
		"a file in its place":  swap,
		"its folder elsewhere": func(dir string) error { return os.Rename(dir, filepath.Join(dir+"-", "x")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.commit("a", "a\n", "d/b", "b\n")
			f.open()
			f.private(workspace.Overlay)
			live := f.trees
			stays := f.leaseNamed("a1.1", base)
			dir := filepath.Dir(stays.Lower)
			must(t, os.MkdirAll(dir+"-", 0o700), harm(dir))

			f.trees = f.backend() // another process
			w := f.leaseNamed("a2.1", base)
			f.write(w.Files(), "n", "n\n")
			if c := f.capture(w); !c.Changed || len(c.Files) != 1 {
				t.Errorf("captured %+v", c)
			}
			for _, name := range []string{"a", "d/b", ".git"} {
				if _, err := os.Lstat(filepath.Join(w.Lower, name)); err != nil || w.Lower != stays.Lower {
					t.Errorf("%s: %v, in %s", name, err, w.Lower)
				}
			}
			f.trees = live
			f.write(stays.Files(), "m", "m\n")
			if c := f.capture(stays); !c.Changed || len(c.Files) != 1 {
				t.Errorf("the one that was at work captured %+v", c)
			}
		})
	}
}

// swap puts an empty file in the place of a folder.
func swap(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.WriteFile(dir, nil, 0o600)
}

// TestBrokenWhileHeld: a process finds, in mid-run, that its base is broken.
// The agent's work is captured, and the next workspace is leased.
func TestBrokenWhileHeld(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.private(workspace.Overlay)
	for name, do := range map[string]func(){
		"capture": func() {},
		"lease":   func() { f.leaseNamed("next.1", base) },
	} {
		w := f.leaseNamed(name+".1", base)
		f.write(w.Files(), name, "n\n")
		must(t, os.Remove(w.Index))
		do()
		if c := f.capture(w); !c.Changed || len(c.Files) != 1 {
			t.Errorf("%s: captured %+v", name, c)
		}
	}
}

// TestBrokenBelow has a base broken that another lies on.
func TestBrokenBelow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	whole := f.commit("a", strings.Repeat("x", 1<<20))
	more := f.commit("b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	f.leaseNamed("a1.1", whole)
	w := f.leaseNamed("a2.1", more)
	if w.Under == "" {
		t.Fatal("it is no layer")
	}
	must(t, f.trees.Close(), os.RemoveAll(w.Under))
	f.trees = f.backend()
	w = f.leaseNamed("a3.1", more)
	for _, name := range []string{"a", "b"} {
		if _, err := os.Lstat(filepath.Join(w.Lower, name)); err != nil {
			t.Error(err)
		}
	}
	// Its record may lead in a circle.
	must(t, f.trees.Close())
	dir := filepath.Dir(w.Lower)
	must(t, os.WriteFile(filepath.Join(dir, "base.json"),
		[]byte(`{"commit":"`+string(more)+`","under":"`+filepath.Base(dir)+`"}`), 0o600))
	f.trees = f.backend()
	if w := f.leaseNamed("a4.1", more); w.Under != "" {
		t.Errorf("it lies on %s", w.Under)
	}
}

// TestSetAside: a broken base stays while it may be mounted. The next base
// knows the workspaces on it, and a sweep removes the links of workspaces that
// are gone.
func TestSetAside(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.private(workspace.Overlay)
	live := f.trees
	w := f.leaseNamed("a1.1", base)
	dir := filepath.Dir(w.Lower)
	must(t, os.Symlink(filepath.Join(f.home, "gone"), filepath.Join(dir, "users", "old.a1.1")), os.Remove(w.Index))
	mounted, err := os.Open(filepath.Join(w.Lower, "a"))
	must(t, err)
	defer mounted.Close()
	links := func() int {
		var at unix.Stat_t
		must(t, unix.Fstat(int(mounted.Fd()), &at))
		return int(at.Nlink)
	}
	f.trees = f.backend()
	f.leaseNamed("a2.1", base)
	must(t, f.trees.Close())
	sweep := func() {
		_, err := bases.Sweep(t.Context(), bases.SweepRequest{Bases: f.trees.Bases, Size: 0})
		must(t, err)
	}
	sweep()
	if links() != 1 {
		t.Error("what another process works with was removed")
	}
	users, err := os.ReadDir(filepath.Join(dir, "users"))
	must(t, err)
	var names []string
	for _, e := range users {
		_, name, _ := strings.Cut(e.Name(), ".")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "a1.1 a2.1" {
		t.Errorf("on the new base stand %q", got)
	}
	must(t, live.Close())
	sweep()
	if _, rest := f.basesIn(); links() != 0 || len(rest) > 0 {
		t.Errorf("%d names of a file that nobody uses, and %q", links(), rest)
	}
	entries, err := os.ReadDir(f.trees.Bases)
	must(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".gone.") || strings.Contains(e.Name(), ".making") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

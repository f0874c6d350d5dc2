package worktree

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/bases"
	"agentswarm/worktree/git"
	"agentswarm/worktree/include"
	"agentswarm/worktree/workspace"
)

// change makes a commit on HEAD, by a script in the user's checkout.
func (f *fixture) change(script string) git.Hash {
	f.t.Helper()
	f.script(filepath.Join(f.home, "change"), "set -e\n"+script)
	f.git("-c", "alias.x=!sh '"+filepath.Join(f.home, "change")+"'", "x")
	f.git("add", "-A", "-f", "--sparse")
	f.git("commit", "-qm", "changed")
	return git.Hash(f.git("rev-parse", "HEAD"))
}

// restored leases an overlay, restores a commit and compares the files inside
// of it with the commit.
func (f *fixture) restored(base, commit git.Hash) *workspace.Workspace {
	f.t.Helper()
	w := f.lease(base)
	if err := f.trees.Restore(f.t.Context(), *w, commit); err != nil {
		f.t.Fatal(err)
	}
	if got, want := f.inside(w, "git write-tree"), f.git("rev-parse", string(commit)+"^{tree}"); got != want {
		f.t.Errorf("the index holds %s, want %s:\n%s", got, want, f.git("diff", "--stat", want, got))
	}
	if got := f.inside(w, "git rev-parse HEAD"); got != string(base) {
		f.t.Errorf("HEAD = %s, want the base", got)
	}
	return w
}

// TestRestoreLayers: a restore writes into the changes of an overlay, and the
// overlay then shows the commit.
func TestRestoreLayers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		empty        string // folders that are seen and hold nothing
		along        string // included files
	}{
		{name: "files", script: "echo A > a; rm g; rm -r d/e; mkdir -p n/m; echo n > n/m/n; chmod +x run"},
		{name: "a whole folder", script: "rm -r d"},
		{name: "the last of a folder", script: "rm d/x; rm d/e/y; echo z > d/z"},
		{name: "everything", script: "git rm -rq .; rm -rf *"},
		{name: "a file becomes a folder", script: "rm a; mkdir -p a/b; echo x > a/b/c"},
		{name: "a folder becomes a file", script: "rm -r d; echo x > d"},
		{name: "a folder becomes a symlink", script: "rm -r d; ln -s n d; mkdir n; echo x > n/x"},
		{name: "a symlink becomes a folder", script: "rm ln; mkdir ln; echo x > ln/x; echo k > ln/keep"},
		{name: "a symlink outside becomes a folder", script: "rm out; mkdir out; echo x > out/x"},
		{name: "folders change places", script: "rm -r d; rm a; mkdir a; echo 1 > a/1; echo 2 > d"},
		{name: "a folder made anew", script: "rm -r d; mkdir -p d/e; echo 1 > d/e/other"},
		{name: "odd names", script: `echo x > 'new
line'; echo y > "$(printf '\377')"; echo z > ' '; rm 'a b:c,d\e'; mkdir ':(top)'; echo 1 > ':(top)/-f'`},
		{name: "what came along is in the way", along: "k.o/in\x00m.o", script: "echo x > k.o; mkdir m.o; echo y > m.o/y"},
		{name: "what came along stays", along: "d/k.o", script: "rm -r d", empty: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(f.home, "keep", "mine")
			must(t, os.Symlink("d", filepath.Join(f.root, "ln")), os.Symlink(f.home, filepath.Join(f.root, "out")))
			base := f.commit("a", "a\n", "g", "g\n", "d/x", "x\n", "d/e/y", "y\n", "run", "r\n",
				`a b:c,d\e`, "o\n", ".gitignore", "*.o\n", include.FileName, "*.o\n")
			if tt.along != "" {
				for path := range strings.SplitSeq(tt.along, "\x00") {
					f.write(f.root, path, "along")
				}
			}
			f.open()
			namespaces(t, f)
			f.private(workspace.Overlay)
			f.include(base)
			if tt.along != "" {
				_, err := f.trees.along(t.Context())
				must(t, err)
				rm(f, filepath.Join(f.root, "k.o"), filepath.Join(f.root, "m.o"), filepath.Join(f.root, "d/k.o"))
			}
			commit := f.change(tt.script)
			w := f.restored(base, commit)
			if got := f.inside(w, "git status --porcelain | grep -v '^[MADRCT]  ' || :"); got != "" {
				t.Errorf("beside the commit there is\n%s", got)
			}
			// No whiteout may be seen, and no folder that the commit does not have.
			seen := f.inside(w, `find . -path ./.git -prune -o -type c -print -o -type d -empty -print`)
			if seen != tt.empty {
				t.Errorf("seen: %q", seen)
			}
			if tt.along == "d/k.o" && f.inside(w, "cat d/k.o; ls d") != "alongk.o" {
				t.Error("what came along is gone")
			}
			if text, err := os.ReadFile(filepath.Join(f.home, "keep")); err != nil || string(text) != "mine" {
				t.Errorf("written through a symlink: %q, %v", text, err)
			}
			f.inside(w, "rm -rf ./* ; git checkout -q -f HEAD; git diff --quiet HEAD")
			must(t, f.trees.Drop(t.Context(), *w))
			f.clean(w)
		})
	}
}

// TestRestoreLayersSparse checks the record of removed files outside of a
// sparse checkout.
func TestRestoreLayersSparse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.commit("a", "a\n", "in/x", "x\n", "out/y", "y\n", "out/z", "z\n", "far/w", "w\n")
	f.git("sparse-checkout", "set", "--cone", "in")
	base := git.Hash(f.git("rev-parse", "HEAD"))
	f.git("rm", "-q", "--sparse", "--cached", "out/y", "far/w")
	f.git("commit", "-qm", "less")
	commit := git.Hash(f.git("rev-parse", "HEAD"))
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	before, err := os.ReadFile(f.lease(base).Index)
	must(t, err)
	w := f.restored(base, commit)
	after, err := os.ReadFile(w.Index)
	if err != nil || string(after) != string(before) {
		t.Errorf("the index of all was changed, %v", err)
	}
	p, err := baseline.ReadPlaced(w.PlacedFile())
	must(t, err)
	if !p.Gone("out/y") || !p.Gone("far/w") || p.Gone("out/z") || p.Gone("a") {
		t.Errorf("placed: %v", p)
	}
	if got := f.inside(w, "ls"); got != "a\nin" {
		t.Errorf("seen: %q", got)
	}
}

// TestRestoreLayersRandom restores commits that differ at random.
func TestRestoreLayersRandom(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := rand.New(rand.NewPCG(1, 2))
	path := func() string {
		parts := make([]string, 1+r.IntN(3))
		for i := range parts {
			parts[i] = string(rune('a' + r.IntN(4)))
		}
		return strings.Join(parts, "/")
	}
	var commits []git.Hash
	for range campaign.Rounds(t, 5, 8) {
		for range 12 {
			at := filepath.Join(f.root, path())
			for dir := filepath.Dir(at); dir != f.root; dir = filepath.Dir(dir) {
				if s, err := os.Lstat(dir); err == nil && !s.IsDir() {
					must(t, os.Remove(dir))
				}
			}
			must(t, os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755))
			switch r.IntN(4) {
			case 0:
				must(t, os.Symlink(path(), at))
			case 1:
			default:
				must(t, os.WriteFile(at, fmt.Append(nil, r.IntN(1000)), 0o644))
			}
		}
		commits = append(commits, f.commit())
	}
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	layered := 0
	for i, base := range commits {
		w := f.lease(base)
		if w.Under != "" {
			layered++
		}
		tree := f.git("rev-parse", string(base)+"^{tree}")
		if got := f.inside(w, "git status --porcelain; git diff-files; git add -A; git write-tree"); got != tree {
			t.Errorf("%d is seen as\n%s\n%s", i, got, f.git("diff", "--stat", string(base)))
		}
		if got := f.inside(w, "find . -path ./.git -prune -o -type c -print"); got != "" {
			t.Errorf("%d: seen: %s", i, got)
		}
	}
	if layered != len(commits)-1 {
		t.Errorf("%d of %d bases are layers on another", layered, len(commits))
	}
	for i, base := range commits {
		commit := commits[r.IntN(len(commits))]
		w := f.restored(base, commit)
		if got := f.inside(w, "git add -A; git write-tree"); got != f.git("rev-parse", string(commit)+"^{tree}") {
			t.Errorf("%d: seen is\n%s", i, f.git("diff", "--stat", string(commit), got))
		}
	}
}

// TestAlong: each overlay shows the included files. They are copied once for
// all overlays, and files of the base hide them.
func TestAlong(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.commit("a", "a\n", "m/tracked", "old\n", "k", "a file\n")
	f.git("rm", "-rq", "m", "k")
	base := f.commit(".gitignore", "m/\nk/\n*.o\n", include.FileName, "m/\nk/\n*.o\n")
	f.write(f.root, "m/tracked", "mine\n", "m/x", "x\n", "k/in", "k\n", "d.o/deep/y", "y\n")
	must(t, os.Chmod(filepath.Join(f.root, "m/x"), 0o755))
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	f.include(base)
	w, other, older := f.lease(base), f.lease(base), f.lease(old)
	if w.Along == "" || w.Along != other.Along || w.Along != older.Along {
		t.Fatalf("the layers are %q, %q, %q", w.Along, other.Along, older.Along)
	}
	if got := f.inside(w, "cat m/tracked k/in d.o/deep/y; test -x m/x; git status --porcelain; echo w > m/x"); got != "mine\nk\ny" {
		t.Errorf("inside: %q", got)
	}
	if got := f.inside(other, "cat m/x"); got != "x" {
		t.Errorf("what another agent wrote is seen: %q", got)
	}
	if got := f.inside(older, "cat m/tracked k m/x; git status --porcelain"); !strings.HasPrefix(got, "old\na file\nx") {
		t.Errorf("on a base that tracks some: %q", got)
	}
	for _, w := range []*workspace.Workspace{w, other, older} {
		if p, err := baseline.ReadPlaced(w.PlacedFile()); err != nil || len(p) > 0 {
			t.Errorf("placed: %v, %v", p, err)
		}
		must(t, f.trees.Drop(t.Context(), *w))
	}
	text, err := os.ReadFile(filepath.Join(f.root, "m/x"))
	if err != nil || string(text) != "x\n" {
		t.Errorf("the user's file is %q, %v", text, err)
	}
	f.trees = f.backend() // another process: mounted layers never change
	f.include(base)
	if next := f.lease(base); next.Along == w.Along || next.Along == "" {
		t.Errorf("another process has the layer %q", next.Along)
	}
}

// TestDerived holds which bases are made as layers on others.
func TestDerived(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	whole := f.commit("a", strings.Repeat("x", 1<<20), "b.up", "b\n", "d/x", "x\n")
	same := f.commit()
	small := f.commit("d/y", "y\n")
	f.git("rm", "-q", "d/x")
	less := f.commit()
	rules := f.commit(".gitattributes", "*.up text\n")
	f.open()
	f.private(workspace.Overlay)
	first := f.lease(whole)
	for name, tt := range map[string]struct {
		commit git.Hash
		under  string
	}{
		"the same tree": {same, first.Lower}, "a file more": {small, first.Lower}, "a file less": {less, first.Lower},
	} {
		w := f.lease(tt.commit)
		if w.Under != tt.under || w.Lower == first.Lower {
			t.Errorf("%s lies on %q, want %q", name, w.Under, tt.under)
		}
		if record, err := recordOf(filepath.Dir(w.Lower)); err != nil || record.Size > 1<<20 {
			t.Errorf("%s: %+v, %v", name, record, err)
		}
		if got := w.Mounts()[0].Lower; !slices.Equal(got, []string{w.Lower, w.Under}) {
			t.Errorf("%s is mounted as %q", name, got)
		}
	}
	if w := f.lease(rules); w.Under != "" {
		t.Error("attributes that differ are a layer")
	}
	// No workspace uses any of them now, but a base on another is removed
	// first.
	entries, err := f.trees.Strays(nil)
	must(t, err)
	for _, w := range entries {
		must(t, f.trees.Drop(t.Context(), w))
	}
	must(t, f.trees.Close())
	f.trees = f.backend() // the first base again, found through the base on it
	w := f.lease(small)
	if w.Under != first.Lower {
		t.Errorf("another process has it on %q", w.Under)
	}
	must(t, f.trees.Close())
	gone, err := bases.Sweep(t.Context(), bases.SweepRequest{Bases: f.trees.Bases, Size: 0})
	must(t, err)
	if len(gone) != 3 {
		t.Errorf("swept %+v, want all but two", gone)
	}
	for _, dir := range []string{w.Lower, w.Under} {
		if _, err := os.Lstat(dir); err != nil {
			t.Error(err)
		}
	}
	must(t, f.trees.Drop(t.Context(), *w))
	if gone, err = bases.Sweep(t.Context(), bases.SweepRequest{Bases: f.trees.Bases, Size: 0}); err != nil || len(gone) != 2 {
		t.Errorf("swept %+v, %v, want the last two", gone, err)
	}
}

// TestDerivedFromAnEarlierRun: a base for a new commit lies on a base of an
// earlier process, unless that is broken.
func TestDerivedFromAnEarlierRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	whole := f.commit("a", "a\n", "b", "b\n")
	empty := f.commit()
	more := f.commit("d", "d\n")
	f.open()
	f.private(workspace.Overlay)
	first := f.lease(whole)
	// again is the workspace of a commit in a process of its own.
	again := func(commit git.Hash) *workspace.Workspace {
		must(t, f.trees.Close())
		f.trees = f.backend()
		return f.lease(commit)
	}
	for name, commit := range map[string]git.Hash{"an empty commit": empty, "a small one": more} {
		w := again(commit)
		if w.Under != first.Lower {
			t.Errorf("the base of %s lies on %q, want %q", name, w.Under, first.Lower)
		}
		if record, err := recordOf(filepath.Dir(w.Lower)); err != nil || record.Under != filepath.Base(filepath.Dir(first.Lower)) {
			t.Errorf("%s: %+v, %v", name, record, err)
		}
	}
	f.git("checkout", "-q", string(more))
	last := f.commit("e", "e\n")
	must(t, os.Remove(filepath.Join(filepath.Dir(first.Lower), "index")))
	if w := again(last); w.Under != "" {
		t.Errorf("a base lies on %q, which is broken", w.Under)
	}
}

// TestEarlierBaseWithForeignLock: a base of an earlier run whose lock is a link is
// passed over.
func TestEarlierBaseWithForeignLock(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.commit("a", "a\n")
	second := f.commit("b", "b\n")
	f.open()
	f.private(workspace.Overlay)
	earlier, done, err := f.trees.bases.Get(t.Context(), first)
	must(t, err)
	done()
	must(t, f.trees.Close())
	lock := filepath.Dir(earlier.Tree()) + ".lock"
	must(t, os.Remove(lock))
	must(t, os.Symlink(filepath.Join(f.state, "none"), lock))
	_, done, err = f.trees.bases.Get(t.Context(), second)
	if err != nil {
		t.Fatalf("beside a base with a foreign lock: %v", err)
	}
	done()
	must(t, f.trees.Close())
}

// recordOf reads the record of a base.
func recordOf(dir string) (record struct {
	Size  int64
	Under string
}, err error,
) {
	text, err := os.ReadFile(filepath.Join(dir, "base.json"))
	if err == nil {
		err = json.Unmarshal(text, &record)
	}
	return record, err
}

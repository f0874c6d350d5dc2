package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// TestBaseIndex holds that an index is listed as git lists the trees.
func TestBaseIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("aa", "1", "a.b", "2", "a/b", "3", "a/c/d", "4", "a/c/e/f", "5", "a-b/c", "6", "a0", "7", "z/z/z", "8")
	f.open()
	w := f.lease(base)
	b, err := baseline.Read(f.trees.Repo, w.Index)
	must(t, err)
	for _, dir := range []string{"", "a", "a/c", "a/c/e", "a-b", "z", "z/z"} {
		got, ok := b.Folder(dir)
		var names []string
		for _, e := range got {
			names = append(names, fmt.Sprintf("%s %s\t%s", e.Mode, e.ID, e.Name))
		}
		slices.Sort(names)
		want := strings.Split(f.git("ls-tree", "--format=%(objectmode) %(objectname)%x09%(path)", string(base)+":"+dir), "\n")
		slices.Sort(want)
		if !ok || !slices.Equal(names, want) {
			t.Errorf("folder(%q) = %q, %v, want %q", dir, names, ok, want)
		}
		if dir != "" && !b.Holds(dir) {
			t.Errorf("holds(%q) = false", dir)
		}
	}
	for _, path := range []string{"a.b", "a/b", "a/c/e/f", "z/z/z"} {
		if e := b.Find(path); e == nil || e.Path != path {
			t.Errorf("find(%q) = %v", path, e)
		}
		if b.Holds(path) || len(b.Below(path)) > 0 {
			t.Errorf("%q holds files", path)
		}
	}
	if b.Find("a/") != nil || b.Find("zz") != nil || b.Holds("zz") || b.Holds("a/c/e/f/g") {
		t.Error("found what is not there")
	}
	// A folder of which the index does not know the tree is not made up.
	delete(b.Trees, "a/c")
	if _, ok := b.Folder("a"); ok {
		t.Error("listed a folder without the tree of one in it")
	}
	b.Trees["a/c"] = git.IndexTree{ID: b.Trees["a"].ID, Entries: 1}
	if _, ok := b.Folder("a"); ok {
		t.Error("believed a wrong count")
	}
}

// TestSuspicious holds that git takes every name that is not suspicious.
func TestSuspicious(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.git("hash-object", "-w", "--stdin")
	f.git("config", "core.protectHFS", "true")
	names := []string{
		"a", ".gitignore", ".github", ".gitattributes", ".git-x", ".git_x", ".gitx", "git", "x.git", "é", "-",
		".git", ".GIT", ".git ", ".git.", ".git:x", ".git\\x", "git~1", "GIT~1", "git~1 ", ".g\u200cit", ".git\u200c",
		"\ufeff.git", "x\\.git", ".gitmodules", ".gitmodules ", "gitmod~1", "gi7eba~1", ".", "..", ".g\u0130t",
	}
	for _, mode := range []string{"100644", "120000"} {
		refused := 0
		for _, name := range names {
			for _, path := range []string{name, "d/" + name, name + "/d"} {
				_, err := f.try(f.root, "update-index", "--add", "--cacheinfo", mode+","+id+","+path)
				if err != nil {
					refused++
				} else {
					must(t, os.Remove(filepath.Join(f.root, ".git", "index")))
				}
				if err != nil && !suspicious(path) {
					t.Errorf("git refuses %q of mode %s", path, mode)
				}
			}
		}
		if refused < 20 {
			t.Errorf("git refuses %d of mode %s: it is not asked rightly", refused, mode)
		}
	}
	for _, name := range []string{"a", ".gitignore", ".github/x", "é", "x.git"} {
		if suspicious(name) {
			t.Errorf("suspicious(%q)", name)
		}
	}
}

// TestRewrites: for contents and rules of all kinds, the content stored in
// process equals that which git stores. It checks which contents can be stored
// in process.
func TestRewrites(t *testing.T) {
	t.Parallel()
	contents := []string{"a\n", "a\r\n", "a\rb\n", "$Id$\n", "$Id: x $\n", "a\x00\r\n", "", "\r\n\r\nx\n", "\xff\xfea\x00"}
	for _, tt := range []struct {
		name, attributes string
		config           []string
		direct           int // how many of the contents
	}{
		{"no rules", "", nil, 9},
		{"text=auto", "* text=auto\n", nil, 6},
		{"autocrlf", "", []string{"core.autocrlf", "input"}, 6},
		{"ident", "* ident\n", nil, 4},
		{"a filter", "* filter=x\n", []string{"filter.x.clean", "sed s/^a/b/"}, 0},
		{"a filter nobody has", "* filter=x\n", nil, 6},
		{"a filter of others", "*.lfs filter=x\n", []string{"filter.x.clean", "sed s/^a/b/"}, 6},
		{"a macro", "[attr]m filter=x\n* m\n", []string{"filter.x.clean", "sed s/^a/b/"}, 0},
		{"an encoding", "*.x working-tree-encoding=UTF-16\n", nil, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for i := 0; i < len(tt.config); i += 2 {
				f.git("config", tt.config[i], tt.config[i+1])
			}
			base := f.commit("f", "base\n", ".gitattributes", tt.attributes)
			f.open()
			direct := 0
			var w *workspace.Workspace
			for i, content := range contents {
				// In the gate all rounds use a single workspace, and only its
				// first capture gets all checks.
				capture := f.capture
				if i < campaign.Rounds(t, 1, len(contents)) {
					w = f.lease(base)
				} else {
					capture = func(w *workspace.Workspace) *Capture {
						r := f.captureRequest(w)
						r.Ref, r.PatchFile = fmt.Sprint(r.Ref, "-", i), fmt.Sprint(r.PatchFile, i)
						c, err := f.trees.Capture(t.Context(), r)
						must(t, err)
						return c
					}
				}
				f.write(w.Dir, "f", content)
				sure := false
				f.step = func(name string) error {
					if name == "staged" {
						left, _ := filepath.Glob(filepath.Join(f.frozen.Dir, "shared", "pack", "*"))
						sure = len(left) > 0
					}
					return nil
				}
				c := capture(w)
				if sure {
					direct++
				}
				cmd := exec.Command("git", "hash-object", "--stdin", "--path=f")
				cmd.Dir, cmd.Env, cmd.Stdin = f.root, f.environ(), strings.NewReader(content)
				want, err := cmd.Output()
				must(t, err)
				if got := f.git("rev-parse", string(c.Tree)+":f"); got != strings.TrimSpace(string(want)) {
					t.Errorf("content %d is stored as %s, want %s", i, got, want)
				}
			}
			if direct != tt.direct {
				t.Errorf("%d of %d in process, want %d", direct, len(contents), tt.direct)
			}
		})
	}
}

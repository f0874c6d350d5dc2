package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testprogram"
)

// TestMemo asks for facts about objects twice, the second time without the objects.
func TestMemo(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	g.ok(os.MkdirAll(filepath.Join(g.root, "d"), 0o755), os.WriteFile(filepath.Join(g.root, "d", "AGENTS.md"), []byte("text\n"), 0o600))
	g.git("add", "-A")
	g.git("commit", "-qm", "first")
	first := Hash(g.git("rev-parse", "HEAD"))
	g.ok(os.WriteFile(filepath.Join(g.root, "d", "b"), []byte("b\n"), 0o600))
	g.git("add", "-A")
	g.git("commit", "-qm", "second")
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)

	commit, tree, err := r.CommitTree(t.Context(), "HEAD")
	if want := Hash(g.git("rev-parse", "HEAD^{tree}")); err != nil || tree != want || commit != Hash(g.git("rev-parse", "HEAD")) {
		t.Fatalf("CommitTree(HEAD) = %s, %s, %v, want tree %s", commit, tree, err, want)
	}
	ask := func() (entries []Entry, sizes []int64, changes []Change) {
		t.Helper()
		var err error
		entries, err = r.Tree(t.Context(), tree)
		g.ok(err)
		sizes, err = r.Sizes(t.Context(), commit)
		g.ok(err)
		changes, err = r.Changes(t.Context(), first, commit)
		g.ok(err)
		if _, err := r.TreeOnce(t.Context(), commit); err != nil {
			t.Error(err)
		}
		return entries, sizes, changes
	}
	entries, sizes, changes := ask()
	if len(entries) != 2 || !slices.Equal(sizes, []int64{5, 2}) || len(changes) != 1 || changes[0].Path != "d/b" {
		t.Errorf("entries, sizes, changes = %v, %v, %v", entries, sizes, changes)
	}
	// Callers may change the returned slices.
	want := [2]string{entries[0].Path, changes[0].Path}
	entries[0].Path, changes[0].Path = "other", "other"

	named, err := r.Named(t.Context(), NamedRequest{Commit: commit, Name: "AGENTS.md", Max: 1, Limit: 100})
	if err != nil || len(named) != 1 || named[0].Path != "d/AGENTS.md" || string(named[0].Text) != "text\n" {
		t.Errorf("Named = %v, %v", named, err)
	}
	for _, tt := range []struct {
		paths []string
		want  string
	}{{[]string{"d"}, "d/AGENTS.md d/b"}, {[]string{"d/b"}, "d/b"}, {[]string{"d/"}, "d/AGENTS.md d/b"}, {[]string{"d/b/"}, ""}, {[]string{"d/A"}, ""}} {
		found := namedEntries{most: 9}
		g.ok(r.findEntries(t.Context(), commit, tt.paths, &found))
		var got []string
		for _, e := range found.all {
			got = append(got, e.Path)
		}
		listed, err := exec.Command("git", append([]string{"-C", g.root, "ls-tree", "-r", "--name-only", "HEAD", "--"}, tt.paths...)...).Output()
		g.ok(err)
		if strings.Join(got, " ") != tt.want || tt.want != strings.Join(strings.Fields(string(listed)), " ") {
			t.Errorf("findEntries(%q) = %q, want %q; git says %q", tt.paths, got, tt.want, listed)
		}
	}

	g.ok(os.RemoveAll(filepath.Join(g.root, ".git", "objects")), os.MkdirAll(filepath.Join(g.root, ".git", "objects"), 0o755))
	entries, _, changes = ask()
	if got := [2]string{entries[0].Path, changes[0].Path}; got != want {
		t.Errorf("the second answers = %v, want %v", got, want)
	}
	if _, err := r.TreeOf(t.Context(), commit); err == nil {
		t.Error("TreeOf finds the tree of a commit that is gone")
	}
}

// TestCommitTreeMoves: HEAD moves between two answers of git. The tree is that of the
// commit.
func TestCommitTreeMoves(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	first := g.commit("a", "a")
	second := g.commit("b", "b")
	g.git("reset", "-q", "--soft", string(first))
	r := g.repo()
	fake := filepath.Join(g.home, "git")
	testprogram.Write(t, fake, "#!/bin/sh\ncase \"$*\" in *batch-check*)\n"+
		"read -r first; echo \"$first\" | git \"$@\"; git reset -q --soft "+string(second)+"; git \"$@\";;\n*) exec git \"$@\";; esac\n")
	r.Git = &Git{binary: fake, env: g.environ()}
	commit, tree, err := r.CommitTree(t.Context(), "HEAD")
	if want := Hash(g.git("rev-parse", string(commit)+"^{tree}")); err != nil || commit != second || tree != want {
		t.Errorf("CommitTree(HEAD) = %s, %s, %v, want %s, %s", commit, tree, err, second, want)
	}
	if got, err := r.TreeOnce(t.Context(), first); err != nil || got != Hash(g.git("rev-parse", string(first)+"^{tree}")) {
		t.Errorf("TreeOnce(%s) = %s, %v", first, got, err)
	}
}

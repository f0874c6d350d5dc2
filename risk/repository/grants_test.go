package repository

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentswarm/risk"
)

func TestAuthority(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const push = "## Pre-Authorized Actions\n\n- Push to feature/* branches without asking\n"
	const never = "## Pre-Authorized Actions\n\n- Never push to feature/secret\n"
	s.commit("a", "1\n")
	repo := s.in(s.root)
	read := func() *risk.Authority {
		t.Helper()
		base, err := repo.Commit(t.Context(), "HEAD")
		s.ok(err)
		a, err := Authority(t.Context(), repo, base)
		s.ok(err)
		return a
	}
	if a := read(); !reflect.DeepEqual(a, &risk.Authority{}) {
		t.Errorf("without AGENTS.md: %+v", a)
	}
	s.commit("AGENTS.md", push, "sub/AGENTS.md", never, "sub/MY_AGENTS.md", push, "sub/agents.md", push, "other/AGENTS.md/x", push)
	s.ok(os.Mkdir(s.root+"/linked", 0o700), os.Symlink("../AGENTS.md", s.root+"/linked/AGENTS.md"))
	s.git("add", "linked")
	s.git("update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,mod/AGENTS.md")
	s.git("commit", "-q", "-m", "more")
	s.write("AGENTS.md", push+"- Push to main without asking\n") // does not count
	a := read()
	if got := a.Granted(); !slices.Equal(got, []string{"Push to feature/* branches without asking"}) {
		t.Errorf("Granted = %q", got)
	}
	var nested []string
	for _, g := range a.Nested {
		nested = append(nested, fmt.Sprintf("%s %d %d", g.Path, len(g.Items), len(g.Void)))
	}
	if want := []string{"linked/AGENTS.md 0 1", "mod/AGENTS.md 0 1", "sub/AGENTS.md 1 0"}; !slices.Equal(nested, want) {
		t.Errorf("Nested = %q, want %q", nested, want)
	}
	place := s.judged(s.root, Request{})
	for branch, want := range map[string]risk.Verdict{"feature/x": risk.Proceed, "feature/secret": risk.Ask, "main": risk.Ask} {
		part := risk.Part{Tier: risk.Visible, Operation: &risk.Push{Remote: "origin", Branches: []string{branch}}}
		if got := a.Decide(&risk.Finding{Tier: risk.Visible, Parts: []risk.Part{part}}, place); got.Verdict != want {
			t.Errorf("a push to %s: %v, want %v", branch, got.Verdict, want)
		}
	}

	s.ok(os.Remove(s.root+"/AGENTS.md"), os.Rename(s.root+"/sub/MY_AGENTS.md", s.root+"/real.md"), os.Symlink("real.md", s.root+"/AGENTS.md"))
	s.git("add", "AGENTS.md", "real.md")
	s.git("commit", "-q", "-m", "linked")
	if a := read(); len(a.Granted()) != 0 || a.Root == nil || len(a.Root.Void) != 1 {
		t.Errorf("a symlink grants %q: %+v", a.Granted(), a.Root)
	}
}

// TestAuthorityMany: if there are too many files to read, an unread file may
// forbid an action that another grants.
func TestAuthorityMany(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.commit("AGENTS.md", "## Pre-Authorized Actions\n\n- Push to feature/* branches without asking\n", "long/AGENTS.md", strings.Repeat("x", 1<<20))
	id := s.git("rev-parse", "HEAD:AGENTS.md")
	granted := func(want int) {
		t.Helper()
		repo := s.in(s.root)
		base, err := repo.Commit(t.Context(), "HEAD")
		s.ok(err)
		a, err := Authority(t.Context(), repo, base)
		s.ok(err)
		if got := a.Granted(); len(got) != want || want == 0 && a.Root.Suspended == "" {
			t.Errorf("Granted = %q, suspended %q, want %d", got, a.Root.Suspended, want)
		}
	}
	add := func(from, to int, id string) {
		var list strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&list, "100644 %s\td%04d/AGENTS.md\n", id, i)
		}
		s.feed(list.String(), "update-index", "--index-info")
		s.git("commit", "-q", "-m", "more")
	}
	add(0, maxAgentFiles-2, id)
	granted(1)
	add(maxAgentFiles, maxAgentFiles+1, id)
	granted(0)

	s.git("read-tree", "--reset", "HEAD~2")
	add(0, 15, s.git("rev-parse", "HEAD~2:long/AGENTS.md"))
	granted(0)
}

func TestGrantsDiffer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const push = "## Pre-Authorized Actions\n\n- Push to feature/* branches without asking\n"
	s.commit("a", "1\n")
	repo := s.in(s.root)
	base, err := repo.Commit(t.Context(), "HEAD")
	s.ok(err)
	differs := func(name string, want bool) {
		t.Helper()
		if got, err := GrantsDiffer(t.Context(), repo, base); got != want || err != nil {
			t.Errorf("%s: GrantsDiffer = %v, %v, want %v", name, got, err, want)
		}
	}
	differs("no file", false)
	s.write("AGENTS.md", "# Words\n")
	differs("words alone", false)
	s.write("AGENTS.md", push)
	differs("a grant", true)
	s.commit()
	base, err = repo.Commit(t.Context(), "HEAD")
	s.ok(err)
	differs("the same", false)
	s.write("AGENTS.md", "# Words\r\n\r\n"+strings.ReplaceAll(push, "\n", "\r\n"))
	differs("the same on other lines", false)
	s.write("AGENTS.md", push+"- Never push to feature/x\n")
	differs("something forbidden", true)
	s.write("AGENTS.md", strings.ReplaceAll(push, "Push", "Force push"))
	differs("another grant", true)
	s.ok(os.Remove(s.root + "/AGENTS.md"))
	differs("the file is gone", true)
	s.ok(os.WriteFile(s.root+"/real.md", []byte(push), 0o600), os.Symlink("real.md", s.root+"/AGENTS.md"))
	differs("a symlink, which would grant nothing", true)
	s.ok(os.Remove(s.root+"/AGENTS.md"), os.Mkdir(s.root+"/AGENTS.md", 0o700))
	differs("a folder", true)
	s.git("clone", "-q", "--bare", s.root, s.home+"/bare.git")
	repo = s.in(s.home + "/bare.git")
	differs("a bare repository", false)
}

package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentswarm/internal/testprogram"
	"agentswarm/worktree/git"
)

// thereAndBack moves the checkout to the new commit and back, and fails unless it
// is clean at either end.
func (g *fixture) thereAndBack(want string) {
	g.Helper()
	g.must(g.transact(context.Background(), move{index: true}))
	if got := g.git("status", "--porcelain"); got != want || g.git("rev-parse", "HEAD") != string(g.new) {
		g.Errorf("there: status is %q, want %q at the new commit", got, want)
	}
	g.must(Forget(g.records, "k3x9q2.1"))
	back := *g
	back.old, back.new = g.new, g.old
	g.must(back.transact(context.Background(), move{index: true}))
	if got := g.git("status", "--porcelain"); got != want || g.git("rev-parse", "HEAD") != string(g.old) {
		g.Errorf("back: status is %q, want %q at the old commit", got, want)
	}
	if left := g.leftovers(); len(left) > 0 {
		g.Errorf("left %q", left)
	}
}

// TestKindsOfIndex: the index is kept in several ways.
func TestKindsOfIndex(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*fixture){
		"split":           func(g *fixture) { g.git("update-index", "--split-index") },
		"version 4":       func(g *fixture) { g.git("update-index", "--index-version=4") },
		"untracked cache": func(g *fixture) { g.git("update-index", "--force-untracked-cache"); g.git("status") },
		"sparse": func(g *fixture) {
			g.git("sparse-checkout", "set", "--cone", "--sparse-index", "d1", "made")
		},
		"sparse, with a file that is there": func(g *fixture) {
			g.git("sparse-checkout", "set", "--cone", "d1", "made")
			g.write(map[string]string{"d4/f4": "old 4\n"})
		},
		"a time as new as the index": func(g *fixture) {
			// Git cannot tell by its time whether such a file changed: size and
			// time are as before, and the content is not.
			at := filepath.Join(g.root, "mine/changed")
			info, err := os.Stat(filepath.Join(g.root, ".git", "index"))
			g.must(err, os.Chtimes(at, info.ModTime(), info.ModTime()))
			g.git("update-index", "-q", "--refresh")
			index := filepath.Join(g.root, ".git", "index")
			f, err := os.OpenFile(at, os.O_WRONLY, 0)
			g.must(err)
			_, err = f.WriteString("2\n")
			stamp := time.Unix(1_700_000_000, 0)
			g.must(err, f.Close(), os.Chtimes(at, stamp, stamp), os.Chtimes(index, stamp, stamp))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newFixture(t, 20)
			make(g)
			g.thereAndBack(g.git("--no-optional-locks", "status", "--porcelain"))
		})
	}
}

// TestSkippedFile: a file that is marked skip-worktree changes and stays marked,
// as git has it outside of sparse checkouts.
func TestSkippedFile(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.git("update-index", "--skip-worktree", "d4/f4")
	g.must(g.transact(t.Context(), move{index: true}))
	if got := g.read("d4/f4"); got != "new 4\n" {
		t.Errorf("the file is %q, want it new", got)
	}
	if got := g.git("ls-files", "-v", "d4/f4"); got != "S d4/f4" {
		t.Errorf("the index says %q, want the file marked still", got)
	}
	if left := g.leftovers(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestFiltersFindTheirFiles: a filter is a program of the checkout, reads a file
// there, and asks git.
func TestFiltersFindTheirFiles(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.must(os.Rename(g.root, g.root+" 100%f 'quoted'"))
	g.root += " 100%f 'quoted'"
	testprogram.Write(t, filepath.Join(g.root, ".git", "smudge"),
		"#!/bin/sh\nset -e\ntest -e mine/changed\ntest \"$1\" = loud.up\n"+
			"test \"$(git rev-parse --show-toplevel)\" = \"$PWD\"\ngit ls-files --error-unmatch mine/changed >&2\nexec tr a-z A-Z\n")
	g.git("config", "filter.up.smudge", ".git/smudge %f")
	g.git("config", "filter.up.required", "true")
	g.thereAndBack("")
	if got := g.read("loud.up"); got != "QUIET\n" {
		t.Errorf("loud.up is %q, want it filtered", got)
	}
}

// TestAttributes: attributes of the new commit hold for its files, and so do
// those that are in no commit.
func TestAttributes(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.write(map[string]string{".git/info/exclude": ".gitattributes\n", "d4/.gitattributes": "f4 eol=crlf\n"})
	g.must(g.transact(t.Context(), move{index: true}))
	for n, want := range map[string]string{"ends.txt": "1\r\n2\r\n", "d4/f4": "new 4\r\n", "loud.up": "LOUD\n"} {
		if got := g.read(n); got != want {
			t.Errorf("%s is %q, want %q", n, got, want)
		}
	}
	if got := g.git("status", "--porcelain"); got != "" {
		t.Errorf("status is %q, want clean", got)
	}
}

// TestFilterFails: a required filter fails, and no file changes.
func TestFilterFails(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.git("config", "filter.up.smudge", "false")
	g.git("config", "filter.up.required", "true")
	before := g.snapshot()
	for _, index := range []bool{true, false} {
		if err := g.transact(t.Context(), move{index: index}); err == nil || !strings.Contains(err.Error(), "filter") {
			t.Errorf("got %v, want an error that names the filter", err)
		}
		if after := g.snapshot(); after != before {
			t.Errorf("the checkout is\n%s\nwant\n%s", after, before)
		}
	}
	if left := g.leftovers(); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestIndexTellsTimes: after a transaction git need not read the new files to
// know that they are clean. The old files are older than the index: of a file
// that is not, git would have to compare the content.
func TestIndexTellsTimes(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.age()
	g.must(g.transact(t.Context(), move{index: true}))
	if got := g.git("diff-files", "--ignore-submodules=all"); got != "" {
		t.Errorf("these look changed until the index is refreshed:\n%s", got)
	}
}

// age makes the files of the checkout older than its index.
func (g *fixture) age() {
	g.Helper()
	before := time.Unix(1e9, 0)
	for name := range strings.SplitSeq(strings.TrimSuffix(g.git("ls-files", "-z"), "\x00"), "\x00") {
		at := filepath.Join(g.root, name)
		if info, err := os.Lstat(at); err == nil && info.Mode().IsRegular() {
			g.must(os.Chtimes(at, before, before))
		}
	}
	g.git("update-index", "-q", "--refresh")
}

// TestIndexDoubtsTimes: the old files have the time of the index, so that git
// cannot tell by times whether they were changed after that. The next index is
// newer than they are; git compares their contents still.
func TestIndexDoubtsTimes(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	g.age()
	info, err := os.Stat(filepath.Join(g.root, "mine/changed"))
	g.must(err)
	g.must(os.Chtimes(filepath.Join(g.root, ".git/index"), info.ModTime(), info.ModTime()))
	g.must(g.transact(t.Context(), move{index: true}))
	want := ".gitignore\nmine/changed\nmine/flagged\nmine/gone\nmine/skipped\nmine/staged"
	if got := g.git("diff-files", "--name-only", "--ignore-submodules=all"); got != want {
		t.Errorf("git compares the contents of\n%s\nwant\n%s", got, want)
	}
	if got := g.git("status", "--porcelain"); got != "" {
		t.Errorf("status is %q, want clean", got)
	}
}

// TestManyCheckouts: two checkouts stand on the branch, of which one cannot
// follow at the last moment.
func TestManyCheckouts(t *testing.T) {
	t.Parallel()
	g := newFixture(t, 20)
	other := filepath.Join(g.dir, "other")
	g.git("worktree", "add", "-q", "--force", other, "main")
	before := g.snapshot()
	repo := g.repo()
	changes, err := repo.Changes(t.Context(), g.old, g.new)
	g.must(err)
	tx, err := Begin(t.Context(), Request{
		Records: g.records, ID: "k3x9q2.1", Repo: repo, Ref: "refs/heads/main", Old: g.old, New: g.new, Message: "test",
	})
	g.must(err)
	holders, err := repo.Holders(t.Context(), "refs/heads/main")
	g.must(err)
	for _, h := range holders {
		g.must(tx.Add(t.Context(), Side{Repo: h.Repo, From: g.old, To: g.new, Changes: changes, Index: true}))
	}
	g.must(tx.Prepare(t.Context()))
	late := filepath.Join(other, "d4/f4")
	g.must(os.WriteFile(late, []byte("late\n"), 0o644))
	var dirty *git.DirtyError
	if err := tx.Commit(t.Context()); !errors.As(err, &dirty) || dirty.Dir != other {
		t.Errorf("got %v, want a DirtyError of %s", err, other)
	}
	g.must(tx.Close())
	if after := g.snapshot(); after != before {
		t.Errorf("the first checkout is\n%s\nwant\n%s", after, before)
	}
	if got := g.gitIn(other, "status", "--porcelain"); got != " M d4/f4" {
		t.Errorf("status of the second is %q, want only what changed late", got)
	}
}

package merge

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// dirt makes the uncommitted work of a user who works during a landing.
func (f *fixture) dirt() {
	f.Helper()
	f.write(map[string]string{"stashed": "s\n"})
	f.git("add", "stashed")
	f.git("stash", "push", "-q")
	f.write(map[string]string{"mine/staged": "staged\n"})
	f.git("add", "mine/staged")
	f.write(map[string]string{
		"mine/staged": "and more\n", "mine/changed": "changed\n", "mine/new": "untracked\n",
		"mine/ignored": "ignored\n", "mine/program": "x:#!/bin/sh\n", "mine/link": "l:nowhere",
		"mine/gone": "",
	})
}

// ground is the first commit of most tests here.
func (f *fixture) ground() git.Hash {
	f.Helper()
	return f.commit(map[string]string{
		".gitignore": "ignored\n", "mine/changed": "1\n", "mine/staged": "1\n", "mine/gone": "1\n",
		"a": "1\n", "b": "1\n", "d/x": "1\n", "d/y": "1\n", "link": "l:a",
	})
}

// work is a merged commit on base that does a bit of everything.
func (f *fixture) work(base git.Hash) git.Hash {
	f.Helper()
	out := f.merge(base, f.patch("a1", base, map[string]string{
		"a": "x:2\n", "b": "", "d": "folder to file\n", "e/new": "new\n", "link": "l:e/new",
	}))
	if len(out.Landed) != 1 {
		f.Fatalf("outcome %+v, want one landed", out)
	}
	return out.Commit
}

// theirs are the paths that work touches.
var theirs = []string{"a", "b", "d", "e", "link"}

// mine is all that belongs to the user and no landing may change, as text.
func (f *fixture) mine() string {
	f.Helper()
	var b strings.Builder
	// Not the times and sizes git remembers: it blurs those of files that
	// changed in the instant the index was written.
	for line := range strings.Lines(f.git("ls-files", "-s", "-t", "-v")) {
		if _, path, _ := strings.Cut(line, "\t"); !touches(strings.TrimSpace(path)) {
			b.WriteString(line)
		}
	}
	b.WriteString(f.git("stash", "list", "--format=%H") + "\n")
	for line := range strings.Lines(f.git("for-each-ref", "--format=%(refname) %(objectname)")) {
		if !strings.HasPrefix(line, "refs/heads/main ") && !strings.HasPrefix(line, "refs/swarm/") {
			b.WriteString(line)
		}
	}
	for _, file := range []string{".git/config", ".git/HEAD", ".git/info/exclude"} {
		text, err := os.ReadFile(filepath.Join(f.dir, file))
		f.must(err)
		b.Write(text)
	}
	b.WriteString(f.onDisk(func(p string) bool { return !touches(p) }))
	return b.String()
}

func touches(path string) bool {
	top, _, _ := strings.Cut(path, "/")
	return slices.Contains(theirs, top)
}

// onDisk is every file of the checkout, with its kind, mode and content.
func (f *fixture) onDisk(want func(string) bool) string {
	f.Helper()
	var b strings.Builder
	f.must(filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.dir, p)
		switch {
		case rel == ".git" && d.IsDir():
			return filepath.SkipDir
		case rel == ".git":
			return nil
		}
		if err != nil || d.IsDir() || !want(rel) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum, err := checkout.Identify(p)
		fmt.Fprintf(&b, "%s %s %s\n", rel, info.Mode(), sum)
		return err
	}))
	return b.String()
}

// all is everything: the index byte for byte, every ref and every file.
func (f *fixture) all() string {
	f.Helper()
	index, err := os.ReadFile(filepath.Join(f.dir, ".git", "index"))
	f.must(err)
	return f.mine() + fmt.Sprintf("%x", index) + f.git("for-each-ref") + f.onDisk(func(string) bool { return true })
}

func (f *fixture) landing(old, to git.Hash) LandRequest {
	return LandRequest{
		Quarantine: f.q, Ref: "refs/heads/main", Old: old, New: to,
		Keep: "refs/swarm/k3x9q2/landed/1", Have: []git.Hash{git.Hash(f.git("rev-parse", "main"))},
		Record: f.record("1"), Message: "swarm: merge",
		Journal: func(Intent) error { return nil },
	}
}

// wantAt fails where branch, index and files are not those of a commit in
// the paths of work.
func (f *fixture) wantAt(commit git.Hash) {
	f.Helper()
	if got := f.head(); got != commit {
		f.Errorf("branch is at %s, want %s", got.Short(), commit.Short())
	}
	for line := range strings.Lines(f.git("status", "--porcelain", "--no-renames")) {
		if touches(line[3:]) {
			f.Errorf("status says %q, want the files of work clean", line)
		}
	}
	if got := f.git("fsck", "--no-dangling", "--no-progress"); got != "" {
		f.Errorf("fsck says %s", got)
	}
}

// TestLand: branch, index and files move, under a user who has work lying
// around and cleans the repository between any two steps.
func TestLand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	f.dirt()
	before := f.mine()
	var steps []string
	var intents []Intent
	req := f.landing(base, to)
	req.Journal = func(in Intent) error {
		intents = append(intents, in)
		f.wantAt(base)
		return nil
	}
	req.Step = func(name string) error {
		steps = append(steps, name)
		f.git("gc", "-q", "--prune=now")
		return nil
	}
	// Collecting garbage refreshes nothing of the index.
	landing, err := Land(t.Context(), req)
	f.must(err)
	if want := []string{f.dir}; !slices.Equal(landing.Moved, want) {
		t.Errorf("moved %q, want %q", landing.Moved, want)
	}
	if !slices.Contains(steps, "publish") || !slices.Contains(steps, "checkout move the branch") {
		t.Errorf("steps %q, want those of the objects and of the branch among them", steps)
	}
	if len(intents) != 1 || intents[0].Old != base || intents[0].New != to {
		t.Errorf("intents %+v, want one", intents)
	}
	f.wantAt(to)
	if after := f.mine(); after != before {
		t.Errorf("the user's side changed from\n%s\nto\n%s", before, after)
	}
	got := f.onDisk(touches)
	want := map[string]string{}
	for path := range strings.Lines(got) {
		want[strings.Fields(path)[0]] = ""
	}
	if paths := slices.Sorted(maps.Keys(want)); !slices.Equal(paths, []string{"a", "d", "e/new", "link"}) {
		t.Errorf("files on disk are %q", paths)
	}
	if log := f.git("reflog", "-1", "--format=%gs", "HEAD"); log != "swarm: merge" {
		t.Errorf("the reflog of HEAD says %q", log)
	}

	undo := UndoRequest{
		Repo: f.repo, Ref: req.Ref, Old: base, New: to, Record: f.record("2"),
		Message: "swarm: undo", Journal: func(Intent) error { return nil },
	}
	if _, err := Undo(t.Context(), undo); err != nil {
		t.Fatal(err)
	}
	f.wantAt(base)
	if after := f.mine(); after != before {
		t.Errorf("after undo the user's side changed from\n%s\nto\n%s", before, after)
	}
	var moved *MovedError
	if _, err := Undo(t.Context(), undo); !errors.As(err, &moved) {
		t.Errorf("undoing twice: %v, want a MovedError", err)
	}
}

// TestLandWhereNobodyStands: a branch that no checkout is on moves alone, and
// an undo deletes a branch that its landing made.
func TestLandWhereNobodyStands(t *testing.T) {
	t.Parallel()
	for _, bare := range []bool{false, true} {
		f := newFixture(t)
		base := f.ground()
		if bare {
			f.git("checkout", "-q", "--detach")
			f.git("config", "core.bare", "true")
			repo, err := git.New(f.environ()).Discover(t.Context(), filepath.Join(f.dir, ".git"))
			f.must(err)
			f.q, err = repo.Quarantine(filepath.Join(t.TempDir(), "objects"))
			f.must(err)
			f.repo = repo
			f.git("config", "core.bare", "false")
		}
		to := f.work(base)
		if bare {
			f.git("config", "core.bare", "true")
		} else {
			f.dirt()
		}
		req := f.landing("", to)
		req.Ref = "refs/heads/swarm/landed"
		landing, err := Land(t.Context(), req)
		if err != nil || len(landing.Moved) != 0 {
			t.Fatalf("Land = %+v, %v; want no checkout moved", landing, err)
		}
		if got := f.git("rev-parse", req.Ref); got != string(to) {
			t.Errorf("%s is at %s, want %s", req.Ref, got, to)
		}
		var moved *MovedError
		if _, err := Land(t.Context(), req); !errors.As(err, &moved) || moved.Have != to {
			t.Errorf("making the branch again: %v, want a MovedError", err)
		}
		undo := UndoRequest{Repo: f.repo, Ref: req.Ref, New: to, Record: f.record("2"), Journal: req.Journal}
		if _, err := Undo(t.Context(), undo); err != nil {
			t.Fatal(err)
		}
		if got := f.git("for-each-ref", req.Ref); got != "" {
			t.Errorf("after undo there is %q, want no branch", got)
		}
	}
}

// TestLandInALinkedWorktree: the branch is checked out elsewhere.
func TestLandInALinkedWorktree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	other := filepath.Join(t.TempDir(), "linked")
	f.git("worktree", "add", "-q", "-b", "there", other)
	to := f.work(base)
	before := f.all()
	req := f.landing(base, to)
	req.Ref = "refs/heads/there"
	landing, err := Land(t.Context(), req)
	f.must(err)
	if len(landing.Moved) != 1 || filepath.Base(landing.Moved[0]) != "linked" {
		t.Errorf("moved %q, want the linked worktree", landing.Moved)
	}
	if got := f.gitIn(other, nil, "status", "--porcelain"); got != "" {
		t.Errorf("status there is %q, want clean", got)
	}
	if got := f.gitIn(other, nil, "rev-parse", "HEAD"); got != string(to) {
		t.Errorf("HEAD there is %s, want %s", got, to)
	}
	f.git("update-ref", "-d", req.Keep)
	f.git("update-ref", "refs/heads/there", string(base))
	if after := f.all(); after != before {
		t.Error("the checkout that nobody merged into changed")
	}
	var held *HeldError
	f.git("update-ref", "refs/heads/there", string(to))
	undo := UndoRequest{Repo: f.repo, Ref: req.Ref, New: to, Record: f.record("2"), Journal: req.Journal}
	if _, err := Undo(t.Context(), undo); !errors.As(err, &held) {
		t.Errorf("deleting a branch somebody stands on: %v, want a HeldError", err)
	}
}

package merge

import (
	"context"
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
)

// dirt is what the user has lying around while a landing goes by.
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
	for _, line := range strings.Split(f.git("ls-files", "-s", "-t", "-v", "--debug"), "\n") {
		b.WriteString(line + "\n")
	}
	entries := b.String()
	b.Reset()
	keep := false
	for line := range strings.Lines(entries) {
		if !strings.HasPrefix(line, "  ") {
			_, path, _ := strings.Cut(line, "\t")
			keep = !touches(strings.TrimSpace(path))
		}
		if keep {
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
		if rel == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !want(rel) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum, err := fileSum(p)
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
	return f.mine() + sumOf(index) + f.git("for-each-ref") + f.onDisk(func(string) bool { return true })
}

func (f *fixture) landing(old, to git.Hash) LandRequest {
	return LandRequest{
		Quarantine: f.q, Ref: "refs/heads/main", Old: old, New: to,
		Keep: "refs/swarm/k3x9q2/landed/1", Have: []git.Hash{git.Hash(f.git("rev-parse", "main"))},
		LockFile: filepath.Join(f.home, "lock"), Message: "swarm: merge",
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
	if want := []string{"checked", "published", "journaled", "followed", "swapped"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
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
		Repo: f.repo, Ref: req.Ref, Old: base, New: to, LockFile: req.LockFile,
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

// TestLandWhereNobodyStands: a branch no checkout is on moves alone, and one
// that a landing made goes with its undo.
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
		undo := UndoRequest{Repo: f.repo, Ref: req.Ref, New: to, LockFile: req.LockFile, Journal: req.Journal}
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
	undo := UndoRequest{Repo: f.repo, Ref: req.Ref, New: to, LockFile: req.LockFile, Journal: req.Journal}
	if _, err := Undo(t.Context(), undo); !errors.As(err, &held) {
		t.Errorf("deleting a branch somebody stands on: %v, want a HeldError", err)
	}
}

// TestLandRefusesDirt: where a file of the user would be lost, nothing moves.
func TestLandRefusesDirt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(f *fixture)
		want []string
	}{
		{"changed", func(f *fixture) { f.write(map[string]string{"a": "mine\n"}) }, []string{"a"}},
		{"mode changed", func(f *fixture) { f.write(map[string]string{"a": "x:1\n"}) }, []string{"a"}},
		{"deleted", func(f *fixture) { f.write(map[string]string{"b": "", "d/x": ""}) }, []string{"b", "d/x"}},
		{"staged", func(f *fixture) { f.write(map[string]string{"a": "mine\n"}); f.git("add", "a") }, []string{"a"}},
		{
			"staged and taken back on disk",
			func(f *fixture) {
				f.write(map[string]string{"a": "mine\n"})
				f.git("add", "a")
				f.write(map[string]string{"a": "1\n"})
			},
			[]string{"a"},
		},
		{"removed from the index", func(f *fixture) { f.git("rm", "-q", "--cached", "b") }, []string{"b"}},
		{"link changed", func(f *fixture) { f.write(map[string]string{"link": "l:mine"}) }, []string{"link"}},
		{"untracked in the way", func(f *fixture) { f.write(map[string]string{"e/new": "mine\n"}) }, []string{"e/new"}},
		{
			"ignored in the way",
			func(f *fixture) {
				f.write(map[string]string{".git/info/exclude": "/e/\n", "e/new": "mine\n"})
			},
			[]string{"e/new"},
		},
		{"file where a folder comes", func(f *fixture) { f.write(map[string]string{"e": "mine\n"}) }, []string{"e"}},
		{"link where a folder comes", func(f *fixture) { f.write(map[string]string{"e": "l:mine"}) }, []string{"e"}},
		{"folder where a file comes", func(f *fixture) { f.write(map[string]string{"d/mine": "mine\n"}) }, []string{"d/mine"}},
		{"ignored file there", func(f *fixture) { f.write(map[string]string{"d/ignored": "mine\n"}) }, []string{"d/ignored"}},
		{
			"assumed unchanged",
			func(f *fixture) {
				f.git("update-index", "--assume-unchanged", "a")
				f.write(map[string]string{"a": "mine\n"})
			},
			[]string{"a"},
		},
		{
			"staged below a new file",
			func(f *fixture) { f.write(map[string]string{"e/new/x": "mine\n"}); f.git("add", "e") },
			[]string{"e/new/x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.ground()
			to := f.work(base)
			f.dirt()
			tt.make(f)
			before := f.all()
			req := f.landing(base, to)
			req.Journal = func(Intent) error { t.Error("an intent was journaled"); return nil }
			_, err := Land(t.Context(), req)
			var dirty *DirtyError
			if !errors.As(err, &dirty) {
				t.Fatalf("Land: %v, want a DirtyError", err)
			}
			if dirty.Dir != f.dir || !slices.Equal(dirty.Paths, tt.want) {
				t.Errorf("dirty in %s: %q, want in %s: %q", dirty.Dir, dirty.Paths, f.dir, tt.want)
			}
			if after := f.all(); after != before {
				t.Errorf("something moved: from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestLandRefusesBusy: a checkout in the middle of something is named.
func TestLandRefusesBusy(t *testing.T) {
	t.Parallel()
	// conflicting makes two branches that cannot be merged.
	conflicting := func(f *fixture) {
		f.git("checkout", "-q", "-b", "other")
		f.commit(map[string]string{"mine/changed": "other\n"})
		f.git("checkout", "-q", "main")
	}
	fail := func(f *fixture, args ...string) {
		f.git("-c", "alias.try=!git "+strings.Join(args, " ")+" >/dev/null 2>&1 || true", "try")
	}
	tests := []struct {
		name string
		make func(f *fixture)
		want string
	}{
		{"merge", func(f *fixture) { fail(f, "merge", "other") }, "a merge"},
		{"cherry-pick", func(f *fixture) { fail(f, "cherry-pick", "other") }, "a cherry-pick"},
		{"revert", func(f *fixture) { fail(f, "revert", "main~1") }, "a revert"},
		{"rebase", func(f *fixture) { fail(f, "rebase", "other") }, "a rebase"},
		{"rebase with apply", func(f *fixture) { fail(f, "rebase", "--apply", "other") }, "a rebase"},
		{"bisect", func(f *fixture) { fail(f, "bisect", "start", "main", "main~2") }, "a bisect"},
		{
			"another git", func(f *fixture) { f.write(map[string]string{".git/index.lock": " "}) },
			"another git command (index.lock)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.ground()
			conflicting(f)
			f.commit(map[string]string{"mine/changed": "ours\n"})
			base := f.commit(map[string]string{"mine/changed": "ours again\n"})
			to := f.work(base)
			tt.make(f)
			refs := f.git("for-each-ref")
			disk := f.onDisk(func(string) bool { return true })
			_, err := Land(t.Context(), f.landing(base, to))
			var busy *BusyError
			if !errors.As(err, &busy) || busy.Doing != tt.want || busy.Dir != f.dir {
				t.Errorf("Land: %v, want a BusyError of %s", err, tt.want)
			}
			if f.git("for-each-ref") != refs || f.onDisk(func(string) bool { return true }) != disk {
				t.Error("something moved")
			}
		})
	}
}

// TestLandLosesTheSwap: somebody moves the branch in the last instant.
func TestLandLosesTheSwap(t *testing.T) {
	t.Parallel()
	t.Run("from elsewhere", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		other := f.side(base, map[string]string{"mine/changed": "1\n", "z": "1\n"})
		f.dirt()
		disk, mine := f.onDisk(touches), f.mine()
		req := f.landing(base, to)
		req.Step = func(name string) error {
			if name == "followed" {
				f.git("update-ref", "refs/heads/main", string(other))
			}
			return nil
		}
		_, err := Land(t.Context(), req)
		var moved *MovedError
		if !errors.As(err, &moved) || moved.Want != base || moved.Have != other {
			t.Errorf("Land: %v, want a MovedError", err)
		}
		if got := f.onDisk(touches); f.head() != other || got != disk {
			t.Errorf("the files did not move back: they are\n%s\nand were\n%s", got, disk)
		}
		if got := f.mine(); got != mine {
			t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
		}
	})
	t.Run("by a commit of what we brought", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		req := f.landing(base, to)
		req.Step = func(name string) error {
			if name == "followed" {
				f.git("commit", "-q", "-m", "everything that is staged")
			}
			return nil
		}
		_, err := Land(t.Context(), req)
		var moved *MovedError
		if !errors.As(err, &moved) {
			t.Errorf("Land: %v, want a MovedError", err)
		}
		if got := f.git("status", "--porcelain"); got != "" {
			t.Errorf("status is %q, want clean: the user has our files in his commit", got)
		}
	})
	t.Run("before anything", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		base := f.ground()
		to := f.work(base)
		f.commit(map[string]string{"z": "1\n"})
		before := f.all()
		var moved *MovedError
		if _, err := Land(t.Context(), f.landing(base, to)); !errors.As(err, &moved) {
			t.Errorf("Land: %v, want a MovedError", err)
		}
		if f.all() != before {
			t.Error("something moved")
		}
	})
}

// TestLandWaitsItsTurn: two landings on one branch do not mix, and waiting
// ends with the context.
func TestLandWaitsItsTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	req := f.landing(base, to)
	stopped := errors.New("stopped by the test")
	req.Step = func(name string) error {
		if name != "checked" {
			return nil
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		if _, err := Land(ctx, f.landing(base, to)); !errors.Is(err, stopped) {
			t.Errorf("a second landing: %v, want it to wait", err)
		}
		return nil
	}
	if _, err := Land(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	f.wantAt(to)
}

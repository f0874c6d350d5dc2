package worktree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// digest is all that a folder holds.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %x\n", path, at.Mode(), text)
		return err
	}))
	return b.String()
}

// TestShellIsShared: workspaces of a base begin with a single git dir. Each
// stores only its changes, and no change reaches another.
func TestShellIsShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n", "d/b", "b\n")
	f.write(f.root, ".git/hooks/pre-push", "#!/bin/sh\n")
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	one, two := f.lease(base), f.lease(base)
	if one.Shell == "" || one.Shell != two.Shell {
		t.Fatalf("shells %q and %q, want one", one.Shell, two.Shell)
	}
	before := digest(t, one.Shell)
	f.inside(one, `
		echo more >> .git/config.more; cat .git/config >> .git/config.more; echo "# x" >> .git/config
		echo "exit 1" >> .git/hooks/pre-push; echo z > a; git commit -qam mine; git branch other; git tag t
		git pack-refs --all --prune; git stash list; rm -f .git/info/exclude; git gc -q --prune=now; git fsck --strict`)
	if _, err := os.Lstat(two.Admin); !disk.Missing(err) {
		t.Errorf("a workspace in which nobody worked has of its git dir: %v", err)
	}
	got := f.inside(two, "git status --porcelain; git branch --list other; git tag; cat .git/hooks/pre-push; git rev-parse HEAD")
	if got != "#!/bin/sh\n"+string(base) {
		t.Errorf("the other workspace sees %q", got)
	}
	if after := digest(t, one.Shell); after != before {
		t.Errorf("what both began with is now\n%s\nwas\n%s", after, before)
	}
	c, err := f.trees.Capture(t.Context(), f.captureRequest(one))
	must(t, err)
	if c.Head == "" || strings.TrimSpace(f.show(c.Head, "a")) != "z" || !c.Changed {
		t.Errorf("captured %+v", c)
	}
}

// TestShellHead: the agent's own commit is found in its changes to its git dir
// or, if there are none, in the initial git dir.
func TestShellHead(t *testing.T) {
	t.Parallel()
	const made = "echo 2 > a; git commit -qam mine"
	for _, tt := range []struct {
		name, script string
		head, note   bool
	}{
		{name: "nothing done", script: ":"},
		{name: "only looked", script: "git status; git log -1"},
		{name: "a commit", script: made, head: true},
		{name: "on a new branch", script: "git switch -qc x; " + made, head: true},
		{name: "refs packed", script: made + "; git pack-refs --all --prune", head: true},
		{name: "refs packed before", script: "git pack-refs --all --prune; " + made, head: true},
		{name: "nothing but packed", script: "git pack-refs --all --prune"},
		{name: "detached and gone back", script: made + "; git checkout -q --detach HEAD~"},
		{name: "branch renamed", script: made + "; git branch -m renamed", head: true},
		{name: "branch in a folder", script: "git switch -qc x/y; " + made + "; git switch -qc x/z; git branch -qD x/y", head: true},
		{name: "collected", script: made + "; git gc -q --prune=now", head: true},
		{name: "HEAD taken away", script: made + "; rm .git/HEAD", note: true},
		{name: "git dir taken away", script: "rm -rf .git", note: true},
		{name: "a git dir made anew", script: "rm -rf .git; git init -q; echo 2 > a; git add a; git commit -qm mine", head: true},
		{name: "folder of refs a symlink out", script: "rm -r .git/refs; ln -s / .git/refs; rm .git/packed-refs", note: true},
		{name: "unborn", script: "git checkout -q --orphan none", note: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.commit("a", "0\n")
			base := f.commit("a", "1\n")
			f.open()
			namespaces(t, f)
			f.private(workspace.Overlay)
			w := f.lease(base)
			f.inside(w, "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x; "+tt.script)
			c, err := f.trees.Capture(t.Context(), f.captureRequest(w))
			must(t, err)
			noted := false
			for _, n := range c.Notes {
				noted = noted || n.Kind == survey.HeadInvalid
			}
			if noted != tt.note || (c.Head != "") != tt.head {
				t.Errorf("head %q, notes %v", c.Head, c.Notes)
			}
			if tt.head && strings.TrimSpace(f.show(c.Head, "a")) != "2" {
				t.Errorf("head holds %q", f.show(c.Head, "a"))
			}
		})
	}
}

// TestShellInTrash: an entry in the trash has a complete git dir.
func TestShellInTrash(t *testing.T) {
	t.Parallel()
	const mine = "; echo 2 > a; git add a; git commit -qm mine"
	for _, tt := range []struct{ name, script, want string }{
		{"untouched", ":", "first"},
		{"a commit", ":" + mine, "mine"},
		{"packed", "git pack-refs --all --prune" + mine, "mine"},
		{"made anew", "rm -rf .git; git init -q; git config user.name x; git config user.email x" + mine, "mine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(f.root, "a", "1\n")
			f.git("add", "-A")
			f.git("commit", "-qm", "first")
			base := git.Hash(f.git("rev-parse", "HEAD"))
			f.open()
			namespaces(t, f)
			f.private(workspace.Overlay)
			w := f.lease(base)
			f.inside(w, tt.script)
			before := digest(t, w.Shell)
			r, err := f.trees.Release(t.Context(), *w, nil)
			must(t, err)
			dir := filepath.Join(r.Trashed, "tree", workspace.GitName)
			// The alternates of the git dir name a path that exists only inside
			// the workspace.
			info := filepath.Join(dir, "objects", "info")
			must(t, os.MkdirAll(info, 0o700), os.WriteFile(filepath.Join(info, "alternates"),
				[]byte(filepath.Join(f.repo.CommonDir, "objects")+"\n"), 0o600))
			if got := f.in(dir, "--git-dir=.", "log", "-1", "--format=%s"); got != tt.want {
				t.Errorf("the trash has %q, want %q", got, tt.want)
			}
			if left, err := os.Lstat(filepath.Join(r.Trashed, "tree", workspace.UpperName, ".git")); !disk.Missing(err) {
				t.Errorf("left %v, %v", left, err)
			}
			if digest(t, w.Shell) != before {
				t.Error("the git dir of all has changed")
			}
			f.clean(w)
		})
	}
}

// TestShellTampered holds that no workspace is believed whose git dir begins
// elsewhere.
func TestShellTampered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "a\n")
	f.open()
	f.private(workspace.Overlay)
	w := f.lease(base)
	for _, shell := range []string{f.root, filepath.Join(f.trees.Dir, ".git.1", ".."), f.trees.Dir, filepath.Join(f.trees.Dir, "a1.1")} {
		other := *w
		other.Shell = shell
		if _, err := f.trees.Capture(t.Context(), f.captureRequest(&other)); err == nil {
			t.Errorf("captured with a git dir of %s", shell)
		}
	}
}

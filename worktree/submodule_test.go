package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// nested adds a submodule "sub" with a submodule "in" of its own.
func nested(f *fixture) {
	f.t.Helper()
	for _, name := range []string{"inner", "outer"} {
		dir := filepath.Join(f.home, name)
		f.mkdir(dir)
		f.in(dir, "init", "-q", "-b", "main")
		f.write(dir, "s", "1\n", ".gitattributes", "*.x filter=x\n")
		if name == "outer" {
			f.in(dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(f.home, "inner"), "in")
		}
		f.in(dir, "add", "-A")
		f.in(dir, "-c", "user.name=o", "-c", "user.email=o", "commit", "-qm", name)
	}
	f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(f.home, "outer"), "sub")
}

// populate populates the submodules of a workspace as an agent would.
func populate(f *fixture, w *workspace.Workspace) string {
	f.t.Helper()
	f.in(f.at(w), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
	return filepath.Join(f.at(w), "sub")
}

// modules lists captured submodules: the path, and the files of the commit.
func (f *fixture) modules(c *Capture) string {
	f.t.Helper()
	var all []string
	for _, m := range c.Modules {
		store := f.repo.ModuleStore(filepath.Join(f.state, "modules"), m.Path)
		text := m.Path + ":"
		for _, ch := range m.Files {
			text += " " + string(ch.Status) + " " + ch.Path
		}
		if has, err := store.HasCommit(f.t.Context(), m.Commit); err != nil || !has {
			text += " missing"
		}
		if out, err := f.try(store.GitDir, "fsck", "--strict", "--no-dangling"); err != nil || out != "" {
			f.t.Errorf("the store of %s is not whole: %s, %v", m.Path, out, err)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestCaptureSubmodules(t *testing.T) {
	t.Parallel()
	commit := func(f *fixture, dir string) {
		f.in(dir, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "in "+filepath.Base(dir))
	}
	for _, tt := range []struct {
		name    string
		act     func(f *fixture, sub string)
		modules string
		link    func(f *fixture, sub string) string // the commit that the parent records; nil: any
		notes   string
	}{
		{name: "populated only", act: func(*fixture, string) {}},
		{
			name: "a commit", modules: "sub: M s",
			act:  func(f *fixture, sub string) { f.write(sub, "s", "2\n"); commit(f, sub) },
			link: func(f *fixture, sub string) string { return f.in(sub, "rev-parse", "HEAD") },
		},
		{
			name: "changes without a commit", modules: "sub: A n M s",
			act: func(f *fixture, sub string) { f.write(sub, "s", "2\n", "n", "n\n") },
		},
		{
			name: "changes on a commit", modules: "sub: A n M s",
			act: func(f *fixture, sub string) { f.write(sub, "s", "2\n"); commit(f, sub); f.write(sub, "n", "n\n") },
		},
		{
			name: "in a nested one", modules: "sub: M in, sub/in: A n M s",
			act: func(f *fixture, sub string) {
				f.write(filepath.Join(sub, "in"), "s", "2\n")
				commit(f, filepath.Join(sub, "in"))
				f.write(filepath.Join(sub, "in"), "n", "n\n")
			},
		},
		{
			name: "hooks, configuration and attributes of the agent", modules: "sub: M .gitattributes A a.x M s",
			act: func(f *fixture, sub string) {
				dir := f.in(sub, "rev-parse", "--absolute-git-dir")
				f.write(sub, "s", "2\n", "a.x", "x\n", ".gitattributes", "* filter=evil\n")
				f.in(sub, "config", "filter.evil.clean", "touch "+filepath.Join(f.home, "ran")+"; cat")
				f.in(sub, "config", "filter.x.clean", "touch "+filepath.Join(f.home, "ran")+"; cat")
				f.in(sub, "config", "core.fsmonitor", "touch "+filepath.Join(f.home, "ran"))
				f.write(dir, "hooks/reference-transaction", "#!/bin/sh\ntouch "+filepath.Join(f.home, "ran")+"\n")
				must(f.t, os.Chmod(filepath.Join(dir, "hooks/reference-transaction"), 0o755))
			},
		},
		{
			name: "a .git file that leads elsewhere", notes: "submodule_left:sub",
			act: func(f *fixture, sub string) {
				f.write(sub, ".git", "gitdir: "+filepath.Join(f.home, "outer", ".git")+"\n")
			},
		},
		{
			name: "a .git symlink", notes: "submodule_left:sub",
			act: func(f *fixture, sub string) {
				must(f.t, os.Remove(filepath.Join(sub, ".git")), os.Symlink(filepath.Join(f.home, "outer", ".git"), filepath.Join(sub, ".git")))
			},
		},
		{
			name: "an unborn HEAD without files", notes: "submodule_missing:sub",
			act: func(f *fixture, sub string) {
				f.in(sub, "checkout", "-q", "--orphan", "none")
				f.in(sub, "rm", "-rqf", ".")
			},
		},
		{
			name: "another history that is checked out", modules: "sub: D .gitattributes D .gitmodules D in A other D s",
			act:  func(f *fixture, sub string) { unrelated(f, sub) },
			link: func(f *fixture, sub string) string { return f.in(sub, "rev-parse", "HEAD") },
		},
		{
			name: "another history without its files", notes: "submodule_left:sub",
			act: func(f *fixture, sub string) {
				unrelated(f, sub)
				must(f.t, os.Remove(filepath.Join(sub, "other")))
			},
		},
		{
			name: "all files removed", modules: "sub: D .gitattributes D .gitmodules D in D s",
			act: func(f *fixture, sub string) { f.in(sub, "rm", "-rqf", ".") },
		},
		{
			name: "objects that are elsewhere", notes: "head_invalid:sub", modules: "sub: M s",
			act: func(f *fixture, sub string) {
				f.write(sub, "s", "2\n")
				commit(f, sub)
				objects := filepath.Join(f.in(sub, "rev-parse", "--absolute-git-dir"), "objects")
				must(f.t, os.Rename(objects, filepath.Join(f.home, "objects")), os.Symlink(filepath.Join(f.home, "objects"), objects))
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(f.root, "a", "a\n")
			nested(f)
			base := f.commit()
			f.open()
			w := f.lease(base)
			sub := populate(f, w)
			tt.act(f, sub)
			c := f.capture(w)
			want(t, "submodules", f.modules(c), tt.modules)
			want(t, "notes", kinds(c), tt.notes)
			for _, m := range c.Modules {
				if text, err := os.ReadFile(m.Patch); err != nil || !strings.Contains(string(text), "diff --git") {
					t.Errorf("the patch of %s: %v %q", m.Path, err, text)
				}
			}
			if _, err := os.Lstat(filepath.Join(f.home, "ran")); err == nil {
				t.Error("a program of the agent ran")
			}
			if tt.link != nil {
				want(t, "the recorded commit", f.git("rev-parse", string(c.Tree)+":sub"), tt.link(f, sub))
			}
		})
	}
}

// unrelated has a submodule check out a commit of another history.
func unrelated(f *fixture, sub string) {
	f.t.Helper()
	f.in(sub, "checkout", "-q", "--orphan", "none")
	f.in(sub, "rm", "-rqf", ".")
	f.write(sub, "other", "o\n")
	f.in(sub, "add", "-A")
	f.in(sub, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "other")
}

// TestCaptureSubmoduleNotFetched: a submodule whose recorded commit only the user
// has keeps that commit, whatever a failed update left in its folder.
func TestCaptureSubmoduleNotFetched(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		act  func(f *fixture, sub string)
		note string
	}{
		{name: "as git left it", act: func(*fixture, string) {}, note: "submodule \"sub\": its recorded commit could not be had; nothing of it was captured"},
		{
			name: "with files of the agent",
			act:  func(f *fixture, sub string) { f.write(sub, "n", "n\n", "d/m", "m\n") },
			note: "submodule \"sub\": its recorded commit could not be had; nothing of it was captured; " +
				"files in its folder stay in the trash with the workspace: 2",
		},
		{
			name: "with an edited branch of the remote",
			act: func(f *fixture, sub string) {
				f.in(sub, "checkout", "-qf", "main")
				f.write(sub, "s", "edited\n")
			},
			note: "submodule \"sub\" could not be captured: changes in it are not in the patch, and stay in the trash with the workspace",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			nested(f)
			own := filepath.Join(f.root, "sub")
			f.write(own, "s", "only here\n")
			f.in(own, "-c", "user.name=u", "-c", "user.email=u", "commit", "-qam", "only here")
			base := f.commit("a", "a\n")
			f.open()
			w := f.lease(base)
			if _, err := f.try(f.at(w), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"); err == nil {
				t.Fatal("the recorded commit could be fetched")
			}
			f.write(f.at(w), "a", "b\n")
			tt.act(f, filepath.Join(f.at(w), "sub"))
			c := f.capture(w)
			want(t, "submodules", f.modules(c), "")
			want(t, "the recorded commit", f.git("rev-parse", string(c.Tree)+":sub"), f.in(own, "rev-parse", "HEAD"))
			if len(c.Notes) != 1 || c.Notes[0].String() != tt.note || c.Complete {
				t.Errorf("notes %v, complete %v; want %q, and the workspace in the trash", c.Notes, c.Complete, tt.note)
			}
		})
	}
}

// TestCaptureSubmoduleUnknownToUser: the base of a submodule comes from the
// agent where the user has no such submodule.
func TestCaptureSubmoduleUnknownToUser(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested(f)
	base := f.commit("a", "a\n")
	f.git("submodule", "--quiet", "deinit", "-f", "--all")
	must(t, os.RemoveAll(filepath.Join(f.root, ".git", "modules")))
	f.open()
	w := f.lease(base)
	f.write(populate(f, w), "s", "2\n")
	c := f.capture(w)
	want(t, "submodules", f.modules(c), "sub: M s")
	if !slices.ContainsFunc(c.Files, func(ch git.Change) bool { return ch.Path == "sub" && ch.New == c.Modules[0].Commit }) {
		t.Errorf("the patch does not record the commit: %+v", c.Files)
	}
}

// TestCaptureSubmoduleWithoutBase: a submodule whose complete base does not
// exist costs no more than its own changes.
func TestCaptureSubmoduleWithoutBase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested(f)
	base := f.commit("a", "a\n")
	f.git("submodule", "--quiet", "deinit", "-f", "--all")
	must(t, os.RemoveAll(filepath.Join(f.root, ".git", "modules")))
	f.open()
	w := f.lease(base)
	sub := populate(f, w)
	objects := filepath.Join(f.in(sub, "rev-parse", "--absolute-git-dir"), "objects")
	must(t, os.Rename(objects, filepath.Join(f.home, "objects")), os.Symlink(filepath.Join(f.home, "objects"), objects))
	f.write(sub, "s", "2\n")
	f.write(f.at(w), "a", "b\n")
	c := f.capture(w)
	want(t, "notes", kinds(c), "submodule_left:sub")
	want(t, "submodules", f.modules(c), "")
	want(t, "a", strings.TrimSpace(f.show(c.Tree, "a")), "b")
}

// TestCaptureSubmoduleAdded: a new submodule is named as such, and another repository
// is not.
func TestCaptureSubmoduleAdded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested(f)
	base := f.commit("a", "a\n")
	f.open()
	w := f.lease(base)
	f.write(f.at(w), ".gitmodules", f.show(base, ".gitmodules")+"[submodule \"x\"]\n\tpath = libs/new\n\turl = ../inner\n")
	for _, dir := range []string{"libs/new", "other"} {
		f.in(f.at(w), "clone", "-q", filepath.Join(f.home, "inner"), dir)
	}
	c := f.capture(w)
	want(t, "notes", kinds(c), "submodule_added:libs/new nested_repository:other")
	if c.Complete {
		t.Error("the history of the new submodule is in no capture")
	}
}

// TestCaptureSubmoduleOn: a capture that continues another has only the later
// changes of a submodule in its patch.
func TestCaptureSubmoduleOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.root, "a", "a\n")
	nested(f)
	base := f.commit()
	f.open()
	w := f.lease(base)
	sub := populate(f, w)
	f.write(sub, "s", "2\n")
	first := f.capture(w)
	want(t, "submodules", f.modules(first), "sub: M s")

	on := func(c *Capture) *Capture {
		t.Helper()
		r := f.captureRequest(w)
		r.On = c.Commit
		got, err := f.trees.Capture(t.Context(), r)
		must(t, err)
		return got
	}
	f.write(sub, "n", "n\n")
	second := on(first)
	want(t, "submodules", f.modules(second), "sub: A n")
	store, before := second.Modules[0].Store, string(first.Modules[0].Commit)
	want(t, "the commit before", string(second.Modules[0].Base), before)
	want(t, "the parent", f.in(store, "rev-parse", string(second.Modules[0].Commit)+"^"), before)
	if third := on(second); third.Changed || len(third.Modules) > 0 {
		t.Errorf("a capture without a change has %v, submodules %q", third.Files, f.modules(third))
	}
}

// TestCaptureAssignedFilter: a filter that only the agent's attributes assign
// makes the blob, so that the user's checkout is clean. A required filter that
// fails is named.
func TestCaptureAssignedFilter(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(f.home, ".gitconfig", "[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired\n"+
		"[filter \"bad\"]\n\tclean = false\n\trequired\n")
	base := f.commit("old.x", "old\n")
	f.open()
	w := f.lease(base)
	f.write(f.at(w), ".gitattributes", "*.x filter=up\n", "n.x", "new\n", "old.x", "older\n", "plain", "plain\n")
	c := f.capture(w)
	for path, text := range map[string]string{"n.x": "NEW", "old.x": "OLDER", "plain": "plain"} {
		want(t, path, strings.TrimSpace(f.show(c.Tree, path)), text)
	}
	f.git("read-tree", "-u", "--reset", string(c.Commit))
	touched := time.Unix(1_700_000_000, 0) // git reads the file again
	must(t, os.Chtimes(filepath.Join(f.root, "n.x"), touched, touched))
	want(t, "git status", f.git("diff", "--name-only"), "")

	// A macro of the base assigns it by another word, and so does a line that is gone.
	base = f.commit(".gitattributes", "[attr]upper filter=up\n*.y filter=up\n", "d/.gitattributes", "*.y -filter\n")
	w = f.lease(base)
	f.write(f.at(w), "m/.gitattributes", "*.m upper\n", "m/n.m", "new\n", "d/n.y", "new\n")
	must(t, os.Remove(filepath.Join(f.at(w), "d/.gitattributes")))
	c = f.capture(w)
	for _, path := range []string{"m/n.m", "d/n.y"} {
		want(t, path, strings.TrimSpace(f.show(c.Tree, path)), "NEW")
	}

	w = f.lease(base)
	f.write(f.at(w), ".gitattributes", "*.x filter=bad\n", "n.x", "new\n")
	_, err := f.trees.Capture(t.Context(), f.captureRequest(w))
	var failed *FilterError
	if !errors.As(err, &failed) || failed.Filter != "bad" || failed.Path != "n.x" {
		t.Errorf("Capture = %v, want an error that names filter and file", err)
	}
}

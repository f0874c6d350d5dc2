package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// loud is a filter that writes upper case, and leaves a mark in $1 if it runs
// outside of the sandbox. So does the program that an agent put at tool.sh.
const (
	loudTool  = "#!/bin/sh\ntest \"$INSIDE\" || echo out >> \"$1\"\ntr a-z A-Z\n"
	loudRules = "*.loud filter=loud\n.gitignore filter=loud\ntool.sh filter=loud\n"
)

// newLoud is a repository whose user has that filter, with a counter of its
// confined runs.
func newLoud(t *testing.T, program string) (f *fixture, runs *atomic.Int32, outside func() string) {
	t.Helper()
	f, runs = newFixture(t), new(atomic.Int32)
	run := beside(func(git.ConfineRequest) error { runs.Add(1); return nil })
	f.confine = func(ctx context.Context, r git.ConfineRequest) (int, error) {
		r.Env = append(r.Env, "INSIDE=1")
		return run(ctx, r)
	}
	mark := filepath.Join(f.home, "mark")
	f.write(f.home, "loud.sh", loudTool)
	must(t, os.Chmod(filepath.Join(f.home, "loud.sh"), 0o755))
	if program == "" {
		program = filepath.Join(f.home, "loud.sh")
	}
	f.git("config", "filter.loud.smudge", program+" "+mark)
	f.git("config", "filter.loud.clean", "tr A-Z a-z")
	f.git("config", "filter.loud.required", "true")
	return f, runs, func() string {
		text, _ := os.ReadFile(mark)
		return string(text)
	}
}

// filled is the content of a path in a workspace before an agent worked there.
func filled(t *testing.T, w *workspace.Workspace, path string) string {
	t.Helper()
	for _, dir := range []string{w.Files(), w.Lower, w.Under} {
		if text, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
			return string(text)
		}
	}
	t.Errorf("there is no %s", path)
	return ""
}

// TestForeignBase: filters write the files of agents only in the sandbox, in a
// full checkout and in a derived base. The user's files are written as before.
func TestForeignBase(t *testing.T) {
	t.Parallel()
	for _, kind := range []workspace.Backend{workspace.Linked, workspace.Overlay} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f, runs, outside := newLoud(t, "")
			f.kind = kind
			f.commit(".gitattributes", loudRules, "x.loud", "x\n", "y.md", "y\n")
			f.git("rm", "-q", "--cached", "-r", ".")
			f.git("reset", "-q", "--hard")
			must(t, os.RemoveAll(filepath.Join(f.home, "mark")))
			f.open()
			w := f.lease(f.own)
			if got := filled(t, w, "x.loud"); got != "X\n" || runs.Load() != 0 || outside() == "" {
				t.Errorf("the user's own is %q, after %d runs behind walls and %q outside", got, runs.Load(), outside())
			}
			for _, files := range [][]string{
				{"new.loud", "new\n", "new.md", "new\n"}, // it fits on the first
				{".gitattributes", loudRules + "*.md filter=loud\n", ".gitignore", "o\n", "new.md", "newer\n"},
			} {
				must(t, os.RemoveAll(filepath.Join(f.home, "mark")))
				theirs := f.commit(files...)
				must(t, os.RemoveAll(filepath.Join(f.home, "mark")))
				before := runs.Load()
				w := f.lease(theirs)
				if got := filled(t, w, "new.loud"); got != "NEW\n" {
					t.Errorf("new.loud = %q, want it filtered", got)
				}
				want := "new\n"
				if len(files) > 4 {
					want = "NEWER\n"
				}
				if got := filled(t, w, "new.md"); got != want {
					t.Errorf("new.md = %q, want %q", got, want)
				}
				if kind == workspace.Linked {
					if got := f.in(w.Dir, "status", "--porcelain"); got != "" {
						t.Errorf("before anybody worked in it git says %q", got)
					}
				}
				f.write(w.Files(), "more.loud", "MORE\n", "more.txt", "o\n")
				c, err := f.trees.Capture(t.Context(), f.captureRequest(w))
				if err != nil || f.show(c.Tree, "more.loud") != "more\n" {
					t.Errorf("captured %v, %v", c, err)
				}
				if runs.Load() == before || outside() != "" {
					t.Errorf("%d runs behind walls, %q outside", runs.Load()-before, outside())
				}
			}
			for _, pattern := range []string{"a/*/index.fill", "bases/*/fill"} {
				if left, err := filepath.Glob(filepath.Join(f.state, pattern)); err != nil || len(left) > 0 {
					t.Errorf("left: %q, %v", left, err)
				}
			}
		})
	}
}

// TestForeignProgram: the program of a filter lies in the repository, and an
// agent has made another of it.
func TestForeignProgram(t *testing.T) {
	t.Parallel()
	for _, kind := range []workspace.Backend{workspace.Linked, workspace.Overlay} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f, runs, outside := newLoud(t, "./tool.sh")
			f.kind = kind
			f.write(f.root, "tool.sh", "#!/bin/sh\ncat\n")
			must(t, os.Chmod(filepath.Join(f.root, "tool.sh"), 0o755))
			f.commit(".gitattributes", "*.loud filter=loud\n")
			f.open()
			theirs := f.commit("tool.sh", loudTool, "x.loud", "x\n")
			w := f.lease(theirs)
			if got := filled(t, w, "x.loud"); got != "X\n" || runs.Load() == 0 || outside() != "" {
				t.Errorf("x.loud = %q after %d runs behind walls and %q outside", got, runs.Load(), outside())
			}
			f.write(w.Files(), "y.loud", "Y\n")
			_, err := f.trees.Capture(t.Context(), f.captureRequest(w))
			if err != nil || outside() != "" {
				t.Errorf("Capture: %v; the agent's program ran outside of the walls: %q", err, outside())
			}
		})
	}
}

// TestForeignFilterFails: a filter that must succeed and does not, as for want
// of a secret, is said, and nothing is left.
func TestForeignFilterFails(t *testing.T) {
	t.Parallel()
	f, _, _ := newLoud(t, "false")
	f.open()
	theirs := f.commit(".gitattributes", loudRules, "x.loud", "x\n")
	w, err := f.trees.Lease(t.Context(), f.leaseRequest("a1.1", theirs))
	if err == nil || !strings.Contains(err.Error(), "filter the files of") {
		t.Errorf("Lease = %v, %v", w, err)
	}
	if got := f.git("worktree", "list"); strings.Contains(got, "a1.1") {
		t.Errorf("left: %s", got)
	}
}

// TestCopiedLease: a whole checkout with a git dir of its own, on a disk of
// whatever kind.
func TestCopiedLease(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	large := strings.Repeat("0123456789", 20_000)
	f.write(f.root, "run.sh", "#!/bin/sh\n", "empty", "", "dir/large", large)
	must(t, os.Chmod(filepath.Join(f.root, "run.sh"), 0o755))
	must(t, os.Symlink("dir/large", filepath.Join(f.root, "link")))
	f.commit()
	f.open()
	r := f.leaseRequest("a1.1", f.own)
	r.Backend = workspace.Copied
	w, err := f.trees.Lease(t.Context(), r)
	must(t, err)
	for path, want := range map[string]string{"run.sh": "#!/bin/sh\n", "empty": "", "dir/large": large, "link": large} {
		if text, err := os.ReadFile(filepath.Join(w.Files(), path)); err != nil || string(text) != want {
			t.Errorf("%s holds %d bytes, %v, want %d", path, len(text), err, len(want))
		}
	}
	if at, err := os.Stat(filepath.Join(w.Files(), "run.sh")); err != nil || at.Mode().Perm()&0o100 == 0 {
		t.Errorf("run.sh cannot be run: %v, %v", at, err)
	}
	must(t, os.Rename(filepath.Join(w.Files(), "dir"), filepath.Join(w.Files(), "moved")))
	c, err := f.trees.Capture(t.Context(), f.captureRequest(w))
	if err != nil || f.show(c.Tree, "moved/large") != large || len(c.Files) != 2 {
		t.Errorf("Capture = %+v, %v", c, err)
	}
}

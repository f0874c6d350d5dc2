package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/precheck"
	"agentswarm/worktree/workspace"
)

func TestRepositories(t *testing.T) {
	t.Parallel()
	edit := func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "a", "b\n", "n", "n\n") }
	scenes := []scene{
		{
			name: "core.hooksPath", base: []string{"a", "a\n"},
			setup: func(f *fixture) {
				f.unapplied = true // the user's own worktree add runs the hook
				for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-commit"} {
					f.script(filepath.Join(f.home, "hooks", hook), "echo "+hook+" >> "+marker(f)+"\n")
				}
			},
			act: func(f *fixture, w *workspace.Workspace) {
				edit(f, w)
				f.git("config", "core.hooksPath", filepath.Join(f.home, "hooks"))
				other := f.lease(w.Base)
				edit(f, other)
				c := f.capture(other)
				_, err := f.release(other, c)
				must(f.t, err)
			},
			want: []string{"100644 a", "100644 n"},
		},
		{
			name: "settings that change output", base: []string{"a", "a\n"},
			// Not core.splitIndex too: with index.skipHash git 2.55 adds no files.
			setup: func(f *fixture) {
				f.write(f.home, ".gitconfig", "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n"+
					"[diff]\n\tnoprefix = true\n\tmnemonicPrefix = true\n\texternal = /bin/false\n\tsubmodule = log\n"+
					"\talgorithm = patience\n\trenames = copies\n\tcontext = 0\n[color]\n\tui = always\n[core]\n\tquotePath = false\n"+
					"\tabbrev = 7\n[user]\n\tuseConfigOnly = true\n[index]\n\tversion = 4\n\tskipHash = true\n"+
					"[core]\n\tuntrackedCache = true\n[feature]\n\tmanyFiles = true\n[i18n]\n\tcommitEncoding = latin1\n")
				f.git("config", "commit.gpgSign", "false") // for the test's own commits
			},
			act:  edit,
			want: []string{"100644 a", "100644 n"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				text, err := os.ReadFile(c.Patch)
				must(f.t, err)
				if !strings.Contains(string(text), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n") {
					f.t.Errorf("patch =\n%s", text)
				}
			},
		},
		{
			name: "a split index", base: []string{"a", "a\n"},
			setup: func(f *fixture) {
				f.write(f.home, ".gitconfig", "[core]\n\tsplitIndex = true\n[index]\n\tskipHash = false\n")
			},
			act:  edit,
			want: []string{"100644 a", "100644 n"},
		},
		{
			name: "sparse checkout in cones", base: []string{"a", "a\n", "in/x", "x\n", "out/y", "y\n", "out/z", "z\n", "out/.gitignore", "*.o\n"},
			setup: func(f *fixture) {
				f.commit()
				f.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				if _, err := os.Lstat(filepath.Join(f.at(w), "out")); err == nil {
					f.t.Error("the workspace is not sparse")
				}
				f.write(f.at(w), "in/x", "changed\n", "out/y", "made anew\n", "out/new", "n\n", "out/new.o", "o")
			},
			want: []string{"100644 a", "100644 in/x", "100644 out/.gitignore", "100644 out/new", "100644 out/y", "100644 out/z"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				wantChanged("M in/x, A out/new, M out/y")(f, w, c)
				if f.git("config", "--worktree", "--get", "core.sparseCheckout") != "true" {
					f.t.Error("the user's checkout is not sparse any more")
				}
			},
		},
		{
			name: "submodules", base: []string{"a", "a\n"},
			setup: submodules,
			act: func(f *fixture, w *workspace.Workspace) {
				edit(f, w)
				// "gone" is removed, "plain" replaced, "moved" populated and
				// committed to, "empty" left alone.
				rm(f, filepath.Join(f.at(w), "gone"))
				f.write(f.at(w), "plain/x", "x\n")
				f.in(f.at(w), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "moved")
				sub := filepath.Join(f.at(w), "moved")
				f.write(sub, "s", "changed\n")
				f.in(sub, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "in the submodule")
			},
			want:  []string{"100644 .gitmodules", "100644 a", "160000 empty", "160000 moved", "100644 n", "100644 plain/x"},
			notes: "submodule_replaced:plain", partial: true,
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				want := f.in(filepath.Join(f.at(w), "moved"), "rev-parse", "HEAD")
				if got := f.git("rev-parse", string(c.Tree)+":moved"); got != want {
					f.t.Errorf("the submodule is recorded at %s, want %s", got, want)
				}
			},
		},
		{
			name: "no user", base: []string{"a", "a\n"}, act: edit,
			setup: func(f *fixture) {
				f.commit()
				f.git("config", "--unset", "user.name")
				f.git("config", "--unset", "user.email")
				f.git("config", "user.useConfigOnly", "true")
				f.write(f.home, ".gitconfig", "[user]\n\tname = x\n\temail = x\n")
			},
		},
	}
	play(t, scenes)
}

// submodules adds four to the user's checkout.
func submodules(f *fixture) {
	other := filepath.Join(f.home, "other")
	f.mkdir(other)
	f.in(other, "init", "-q", "-b", "main")
	f.write(other, "s", "s\n")
	f.in(other, "add", "-A")
	f.in(other, "-c", "user.name=o", "-c", "user.email=o", "commit", "-qm", "other")
	for _, name := range []string{"empty", "gone", "moved", "plain"} {
		f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, name)
	}
}

// round makes a workspace from where the user stands, changes, captures and
// releases it.
func (f *fixture) round(base git.Hash) *Capture {
	f.t.Helper()
	w := f.lease(base)
	if got := f.in(f.at(w), "status", "--porcelain"); got != "" {
		f.t.Fatalf("a fresh workspace is not clean: %s", got)
	}
	f.write(f.at(w), "a", "b\n", "n", "n\n")
	f.in(f.at(w), "add", "n")
	f.in(f.at(w), "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "n")
	c := f.capture(w)
	wantChanged("M a, A n")(f, w, c)
	if c.Head == "" {
		f.t.Error("the agent's HEAD is not kept")
	}
	r, err := f.release(w, c)
	if err != nil || r.Trashed != "" || r.Kept != "" {
		f.t.Errorf("Release = %+v, %v, want it removed", r, err)
	}
	return c
}

func TestWhereTheUserStands(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		tests := []struct {
			name  string
			init  []string
			stand func(*testing.T, *fixture) // opens the backend
		}{
			{name: "at the top", stand: func(t *testing.T, f *fixture) { f.open() }},
			{name: "in a subdirectory", stand: func(t *testing.T, f *fixture) { f.openAt(filepath.Join(f.root, "d", "e")) }},
			{name: "sha256", init: []string{"--object-format=sha256"}, stand: func(t *testing.T, f *fixture) { f.open() }},
			{name: "in a linked worktree", stand: func(t *testing.T, f *fixture) {
				linked := filepath.Join(f.home, "linked")
				f.git("worktree", "add", "-q", "-b", "other", linked)
				f.openAt(linked)
			}},
			{name: "bare", stand: func(t *testing.T, f *fixture) {
				bare := filepath.Join(f.home, "bare.git")
				f.in(f.home, "clone", "-q", "--bare", f.root, bare)
				f.root = bare
				f.openAt(bare)
			}},
			{name: "shallow", stand: func(t *testing.T, f *fixture) {
				f.commit("a2", "2\n")
				f.commit("a3", "3\n")
				clone := filepath.Join(f.home, "shallow")
				f.in(f.home, "clone", "-q", "--depth", "2", "file://"+f.root, clone)
				f.root = clone
				f.open()
			}},
			{name: "partial", stand: func(t *testing.T, f *fixture) {
				f.git("config", "uploadpack.allowFilter", "true")
				f.git("config", "uploadpack.allowAnySHA1InWant", "true")
				f.write(f.root, "d/e/big", "old\n")
				f.commit()
				f.write(f.root, "d/e/big", "new\n")
				f.commit()
				clone := filepath.Join(f.home, "partial")
				f.in(f.home, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+f.root, clone)
				f.root = clone
				f.open()
			}},
			{name: "through a symlink", stand: func(t *testing.T, f *fixture) {
				ln := filepath.Join(f.home, "ln")
				must(t, os.Symlink(f.root, ln), os.Symlink(f.state, filepath.Join(f.home, "state")))
				f.mkdir(f.state)
				f.state = filepath.Join(f.home, "state")
				f.openAt(ln)
			}},
		}
		for i, tt := range tests {
			// A private git dir depends on the user's in other ways than a
			// linked worktree.
			if !hasTurn(t, i, b) && b != workspace.Linked {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b, tt.init...)
				f.commit("a", "a\n", "d/e/f", "f\n", ".gitignore", "*.o\n", "same", "n\n")
				tt.stand(t, f)
				base, err := f.repo.Commit(t.Context(), "HEAD")
				must(t, err)
				f.round(base)
				n, err := f.trees.Footprint(t.Context(), base)
				if err != nil || n < 4096 {
					t.Errorf("Footprint = %d, %v", n, err)
				}
				if _, err := precheck.Hazards(t.Context(), f.repo, base); err != nil {
					t.Errorf("Hazards: %v", err)
				}
			})
		}
	})
}

func TestHazards(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		setup   func(*fixture)
		want    []string
		refused bool
	}{
		{name: "none", setup: func(*fixture) {}},
		{name: "submodules", want: []string{"submodules"}, setup: submodules},
		{name: "lfs without its program", want: []string{"lfs"}, refused: true, setup: func(f *fixture) {
			f.write(f.root, "d/.gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
			f.git("config", "filter.lfs.process", "git-lfs filter-process")
		}},
		{name: "lfs not configured", want: []string{"lfs"}, setup: func(f *fixture) {
			f.write(f.root, ".gitattributes", "*.bin filter=lfs\n")
		}},
		{
			name: "settings",
			want: []string{"filter", "filter", "hooks", "autocrlf", "ignorecase", "filemode", "symlinks", "gpgsign", "diff", "user"},
			setup: func(f *fixture) {
				f.git("commit", "-qm", "first", "--allow-empty")
				for _, kv := range [][2]string{
					{"filter.b.clean", "b"}, {"filter.a.smudge", "a"}, {"core.hooksPath", "h"}, {"core.autocrlf", "input"},
					{"core.ignoreCase", "true"}, {"core.fileMode", "false"}, {"core.symlinks", "false"},
					{"commit.gpgSign", "true"}, {"diff.noprefix", "1"},
				} {
					f.git("config", kv[0], kv[1])
				}
				f.git("config", "--unset", "user.name")
			},
		},
		{name: "sparse", want: []string{"sparse"}, setup: func(f *fixture) {
			f.commit("a/a", "a\n")
			f.git("sparse-checkout", "set", "a")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name == "lfs without its program" && hasLFS() {
				t.Skip("git-lfs is installed")
			}
			f := newFixture(t)
			tt.setup(f)
			if f.git("config", "--default", "", "--get", "user.name") != "" {
				f.git("-c", "commit.gpgSign=false", "add", "-A")
				f.git("-c", "commit.gpgSign=false", "-c", "filter.lfs.process=", "commit", "-q", "--allow-empty", "-m", "x")
			}
			repo, err := git.New(f.environ()).Discover(t.Context(), f.root)
			must(t, err)
			head, err := repo.Commit(t.Context(), "HEAD")
			must(t, err)
			all, err := precheck.Hazards(t.Context(), repo, head)
			must(t, err)
			var got []string
			for _, h := range all {
				got = append(got, h.Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Hazards = %q, want %q", got, tt.want)
			}
			if refused := slices.ContainsFunc(all, func(h precheck.Hazard) bool { return h.Refused }); refused != tt.refused {
				t.Errorf("Hazards = %+v, want refused = %v", all, tt.refused)
			}
		})
	}
}

func hasLFS() bool {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "git-lfs")); err == nil {
			return true
		}
	}
	return false
}

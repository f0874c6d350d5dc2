package worktree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// restore leases a workspace and puts the work of a capture into it.
func (f *fixture) restore(base, commit git.Hash) *workspace.Workspace {
	f.t.Helper()
	w := f.lease(base)
	saved := f.indexed(w)
	if err := f.trees.Restore(f.t.Context(), *w, commit); err != nil {
		f.t.Fatal(err)
	}
	if after := f.indexed(w); after != saved {
		f.t.Errorf("the saved index has become\n%s\nwant that of the base\n%s", after, saved)
	}
	if got := f.in(f.at(w), "rev-parse", "HEAD"); got != string(base) {
		f.t.Errorf("HEAD = %s, want the base %s", got, base)
	}
	if _, err := os.Lstat(w.Index + ".restore"); err == nil {
		f.t.Error("the folder of the restore is left")
	}
	return w
}

// indexed is the content of our copy of the index.
func (f *fixture) indexed(w *workspace.Workspace) string {
	f.t.Helper()
	entries, err := f.repo.ReadIndex(w.Index)
	must(f.t, err)
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%o %s %v %s\n", e.Mode, e.ID, e.MTime, e.Path)
	}
	return b.String()
}

// again takes a scene's work through a second attempt that does nothing and a
// third that does a little.
func (f *fixture) again(w *workspace.Workspace, first *Capture) {
	f.t.Helper()
	next := f.restore(w.Base, first.Commit)
	if got := f.in(f.at(next), "write-tree"); got != string(first.Tree) {
		f.t.Errorf("the index holds %s, want the work staged:\n%s", got,
			f.git("diff", "--stat", string(first.Tree), got))
	}
	second := f.capture(next)
	if second.Tree != first.Tree {
		f.t.Errorf("the second attempt captured %s, want %s:\n%s", second.Tree, first.Tree,
			f.git("diff", string(first.Tree), string(second.Tree)))
	}
	if ran(f) {
		f.t.Error("what the agent configured was run")
	}
	r, err := f.release(next, second)
	if err != nil || (r.Trashed == "") != (second.Complete && len(second.Ignored) == 0) {
		f.t.Errorf("Release = %+v, %v", r, err)
	}
	next = f.restore(w.Base, first.Commit)
	f.write(f.at(next), "of the third", "3\n")
	third := f.capture(next)
	want, got := f.blobs(first.Tree), f.blobs(third.Tree)
	want["100644 of the third"] = got["100644 of the third"]
	if !maps.Equal(got, want) || f.show(third.Tree, "of the third") != "3\n" {
		f.t.Errorf("the third attempt captured %q, want %q", got, want)
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	upper := func(f *fixture) {
		f.write(f.home, ".gitconfig",
			"[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired\n")
	}
	after := func(check func(*fixture, *workspace.Workspace, *Capture)) func(*fixture, *workspace.Workspace, *Capture) {
		return func(f *fixture, w *workspace.Workspace, c *Capture) {
			if check != nil {
				check(f, w, c)
			}
			f.again(w, c)
		}
	}
	scenes := []scene{
		{
			name: "changed, new, deleted, modes, symlinks", links: []string{"ln", "a"},
			base: []string{"a", "a\n", "gone", "g\n", "d/e/gone", "g\n", "run", "r\n", "was", "w\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "a", "A\n", "new/deep/x", "x", "empty", "")
				rm(f, filepath.Join(f.at(w), "gone"), filepath.Join(f.at(w), "d"), filepath.Join(f.at(w), "ln"),
					filepath.Join(f.at(w), "was"))
				must(f.t, os.Chmod(filepath.Join(f.at(w), "run"), 0o755),
					os.Symlink("/nowhere", filepath.Join(f.at(w), "ln")), os.Symlink("run", filepath.Join(f.at(w), "was")))
			},
			want: []string{"100644 a", "100644 empty", "120000 ln", "100644 new/deep/x", "100755 run", "120000 was"},
			after: after(func(f *fixture, w *workspace.Workspace, c *Capture) {
				next := f.restore(w.Base, c.Commit)
				if _, err := os.Lstat(filepath.Join(f.at(next), "d")); err == nil {
					f.t.Error("an empty folder is left")
				}
				at, err := os.Lstat(filepath.Join(f.at(next), "run"))
				if err != nil || at.Mode().Perm()&0o111 == 0 {
					f.t.Errorf("run = %v, %v, want it executable", at.Mode(), err)
				}
				want := "M  a\nD  d/e/gone\nA  empty\nD  gone\nM  ln\nA  new/deep/x\nM  run\nT  was"
				if got := f.in(f.at(next), "status", "--porcelain", "--no-renames"); got != want {
					f.t.Errorf("status =\n%s\nwant\n%s", got, want)
				}
			}),
		},
		{
			name: "files become folders and the other way round", links: []string{"ln", "d"},
			base: []string{"f", "f\n", "d/x", "x\n", "d/y", "y\n", "e/z", "z\n", "s/in", "in\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "f"), filepath.Join(f.at(w), "d"), filepath.Join(f.at(w), "e"),
					filepath.Join(f.at(w), "ln"))
				f.write(f.at(w), "f/in", "1\n", "d", "now a file\n", "ln/real", "r\n", "elsewhere/z", "z\n")
				must(f.t, os.Symlink("elsewhere", filepath.Join(f.at(w), "e")))
			},
			after: after(nil),
		},
		{
			name: "odd names", base: []string{"-f", "x\n", "a b", "x\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "-f", "y\n", "--help", "h\n", "new\nline", "n\n", "\xff\xfe", "b\n",
					":(top)x", "m\n", ":d/x", "m\n", "tab\there", "t\n", `quo"te\`, "q\n", "*", "s\n", " ", "blank\n")
				rm(f, filepath.Join(f.at(w), "a b"))
			},
			after: after(nil),
		},
		{
			name: "nothing is left", base: []string{"a", "a\n", "d/b", "b\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "a"), filepath.Join(f.at(w), "d"))
			},
			want: []string{}, after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				next := f.restore(w.Base, c.Commit)
				if again := f.capture(next); again.Tree != c.Tree {
					f.t.Errorf("captured %q, want nothing", f.files(again.Tree))
				}
			},
		},
		{
			name: "a filter, and attributes that the agent changed", setup: upper, filters: true,
			base: []string{".gitattributes", "*.up filter=up\n", "a.up", "abc\n", "d/.gitattributes", "* text\n", "d/x", "x\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), ".gitattributes", "*.up -filter\n*.x filter=up\n*.txt eol=crlf\n", "n.up", "new\n",
					"n.x", "low\n", "t.txt", "unix\n", "e/.gitattributes", "* eol=crlf\n", "e/x", "unix\n", "g/.gitattributes/z", "z\n")
				rm(f, filepath.Join(f.at(w), "d/.gitattributes"))
				must(f.t, os.Symlink("x", filepath.Join(f.at(w), "d/.gitattributes")))
			},
			after: after(func(f *fixture, w *workspace.Workspace, c *Capture) {
				next := f.restore(w.Base, c.Commit)
				for path, want := range map[string]string{
					"n.up": "new\n", "n.x": "low\n", "t.txt": "unix\n", "e/x": "unix\n", "g/.gitattributes/z": "z\n",
				} {
					text, err := os.ReadFile(filepath.Join(f.at(next), path))
					if err != nil || string(text) != want {
						f.t.Errorf("%s = %q, %v, want %q", path, text, err, want)
					}
				}
			}),
		},
		{
			name: "a filter that does not give back what it took", filters: true,
			setup: func(f *fixture) {
				f.write(f.home, ".gitconfig", "[filter \"x\"]\n\tclean = \"cat; echo more\"\n\tsmudge = cat\n")
			},
			base:  []string{".gitattributes", "*.x filter=x\n"},
			act:   func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "n.x", "new\n") },
			after: after(nil),
		},
		{
			name: "a tool of a filter that the agent rewrote does not run", filters: true,
			setup: func(f *fixture) {
				f.script(filepath.Join(f.root, "tools/t.sh"), "tr a-zA-Z A-Za-z\n")
				f.git("config", "filter.t.clean", "./tools/t.sh")
				f.git("config", "filter.t.smudge", "./tools/t.sh")
				f.git("config", "filter.t.required", "true")
				f.write(f.root, ".gitattributes", "*.t filter=t\n", "x.t", "x\n")
				f.unapplied = true // the user's own git would run it
			},
			act: func(f *fixture, w *workspace.Workspace) {
				f.script(filepath.Join(f.at(w), "tools/t.sh"), "echo x > "+marker(f)+"; cat\n")
				f.write(f.at(w), "x.t", "y\n", "new.t", "n\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				next := f.restore(w.Base, c.Commit)
				if again := f.capture(next); again.Tree != c.Tree || f.show(again.Tree, "new.t") != "N\n" {
					f.t.Errorf("captured %s, want %s", again.Tree, c.Tree)
				}
			},
		},
		{
			name:  "autocrlf",
			setup: func(f *fixture) { f.write(f.home, ".gitconfig", "[core]\n\tautocrlf = true\n") },
			base:  []string{".gitattributes", "# none\n", "a", "1\n2\n", "bin", "\x00\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "a", "1\r\n2\r\n3\r\n", "n", "new\r\n", ".gitattributes", "# some\r\n", "bin", "\x00\r\n")
			},
			after: after(nil),
		},
		{
			name: "no executable bit on this disk",
			setup: func(f *fixture) {
				f.script(filepath.Join(f.root, "x"), "1\n")
				f.commit()
				f.git("config", "core.fileMode", "false")
			},
			act:   func(f *fixture, w *workspace.Workspace) { f.write(f.at(w), "x", "2\n", "n", "n\n") },
			want:  []string{"100644 n", "100755 x"},
			after: after(nil),
		},
		{
			name: "sparse checkout", base: []string{"a", "a\n", "in/x", "x\n", "out/y", "y\n", "out/z", "z\n", "far/w", "w\n"},
			setup: func(f *fixture) {
				f.commit()
				f.git("sparse-checkout", "set", "--cone", "in")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "in/x", "changed\n", "out/y", "made anew\n", "out/new", "n\n", "far", "a file\n")
			},
			want:  []string{"100644 a", "100644 far", "100644 in/x", "100644 out/new", "100644 out/y", "100644 out/z"},
			after: after(nil),
		},
		{
			name: "submodules", base: []string{"a", "a\n"}, setup: submodules, partial: true,
			notes: "submodule_replaced:plain",
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "gone"))
				f.write(f.at(w), "plain/x", "x\n")
				f.in(f.at(w), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "moved")
				sub := filepath.Join(f.at(w), "moved")
				f.write(sub, "s", "changed\n")
				f.in(sub, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qam", "in the submodule")
			},
			after: after(nil),
		},
	}
	play(t, withApart(t, scenes))
}

// TestRestoreAny restores commits that no capture made.
func TestRestoreAny(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		submodules(f)
		base := f.commit("a", "a\n", ".gitignore", "*.o\n/b/\n", "out/y", "y\n", "in/x", "x\n", "was/file", "f\n")
		sub := f.git("rev-parse", "HEAD:moved")
		// Ignored files that were added by force, new links, and a deletion
		// outside of the sparse checkout.
		f.write(f.root, "x.o", "1\n", "b/c", "2\n", "b/d/e", "3\n")
		f.git("add", "-f", "x.o", "b")
		f.git("rm", "-q", "-r", "out", "was")
		f.git("update-index", "--add", "--cacheinfo", "160000,"+sub+",fresh")
		f.git("update-index", "--add", "--cacheinfo", "160000,"+sub+",was")
		f.git("update-index", "--cacheinfo", "160000,"+string(base)+",empty")
		f.git("commit", "-qm", "work")
		commit := git.Hash(f.git("rev-parse", "HEAD"))
		f.git("reset", "-q", "--hard", string(base))
		f.git("sparse-checkout", "set", "--cone", "in")
		f.unapplied = true // git apply will not make an empty submodule
		f.open()
		w := f.lease(base)
		must(t, f.trees.Restore(t.Context(), *w, commit))
		c := f.capture(w)
		if want := f.git("rev-parse", string(commit)+"^{tree}"); string(c.Tree) != want || len(c.Ignored) > 0 || len(c.Notes) > 0 {
			t.Errorf("captured %s, ignored %v, notes %v, want the commit:\n%s", c.Tree, c.Ignored, c.Notes,
				f.git("diff", "--stat", want, string(c.Tree)))
		}
		// An agent's changes to it count.
		f.write(f.at(w), "x.o", "changed\n", "fresh/plain", "p\n")
		rm(f, filepath.Join(f.at(w), "b/c"), filepath.Join(f.at(w), "was"))
		c = f.capture(w)
		want := []string{"100644 .gitignore", "100644 .gitmodules", "100644 a", "100644 b/d/e", "160000 empty",
			"100644 fresh/plain", "160000 gone", "100644 in/x", "160000 moved", "160000 plain", "100644 x.o"}
		if got := f.files(c.Tree); !slices.Equal(got, want) {
			t.Errorf("tree = %q, want %q", got, want)
		}
	})
}

// TestRestoreWithDamage goes by the frozen configuration and leaves nothing
// behind where it fails.
func TestRestoreWithDamage(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a", "a\n")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), "a", "b\n", "n", "n\n")
		c := f.capture(w)
		next := f.lease(base)
		f.write(filepath.Join(f.root, ".git"), "config", "garbage")
		must(t, f.trees.Restore(t.Context(), *next, c.Commit))
		text, err := os.ReadFile(filepath.Join(f.at(next), "n"))
		if err != nil || string(text) != "n\n" {
			t.Errorf("n = %q, %v", text, err)
		}
		if err := f.trees.Restore(t.Context(), *next, git.Hash(strings.Repeat("1", 40))); err == nil {
			t.Error("Restore of no commit succeeded")
		}
		if _, err := os.Lstat(next.Index + ".restore"); err == nil {
			t.Error("the folder of the restore is left")
		}
	})
}

// TestRestoreEqualsDirect makes random changes in two attempts and compares
// with the same changes made in a single attempt.
func TestRestoreEqualsDirect(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		seed := campaign.Seed(t)
		r := rand.New(rand.NewPCG(seed, 0))
		f := fixtureOn(t, b)
		base := f.scatter(r)
		f.open()
		for range campaign.Rounds(t, 1, 20) {
			w := f.lease(base)
			for range 1 + r.IntN(25) {
				mutate(r, f.at(w))
			}
			first := f.capture(w)
			if !first.Changed {
				continue
			}
			next := f.restore(base, first.Commit)
			second := f.capture(next)
			if second.Tree != first.Tree {
				t.Fatalf("seed %d: restored %s, want %s:\n%s", seed, second.Tree, first.Tree,
					f.git("diff", "--stat", string(first.Tree), string(second.Tree)))
			}
			for range 1 + r.IntN(10) {
				mutate(r, f.at(next))
			}
			want := f.added(next)
			if third := f.capture(next); string(third.Tree) != want {
				t.Fatalf("seed %d: tree = %s, want %s:\n%s", seed, third.Tree, want,
					f.git("diff", "--stat", want, string(third.Tree)))
			}
		}
	})
}

package worktree

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// must fails the test on an error; it keeps scenes readable.
func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// scene is an action of an agent and its expected result.
type scene struct {
	name  string
	base  []string // files: name, content
	links []string // symlinks of the base: name, target
	setup func(*fixture)
	act   func(f *fixture, w *workspace.Workspace)

	want    []string // the tree; nil: not checked
	notes   string   // as kinds gives them
	filters bool     // the base, or the agent, sets filters up
	apart   bool     // filters run apart
	partial bool
	none    bool // expect no change
	after   func(f *fixture, w *workspace.Workspace, c *Capture)
	only    []workspace.Backend // nil: each
}

// play runs scenes on every backend, by turns in the gate.
func play(t *testing.T, scenes []scene) {
	t.Helper()
	each(t, func(t *testing.T, b workspace.Backend) {
		for i, s := range scenes {
			if s.only == nil && hasTurn(t, i, b) || slices.Contains(s.only, b) {
				t.Run(s.name, func(t *testing.T) { s.run(t, b) })
			}
		}
	})
}

// withApart adds each scene once more, with its filters run apart. In the gate
// those without a filter are left out: there is nothing to run, as
// TestCaptureConfinesOnlyFilters holds.
func withApart(t *testing.T, scenes []scene) []scene {
	t.Helper()
	for _, s := range scenes {
		if !s.filters && campaign.Rounds(t, 0, 1) == 0 {
			continue
		}
		s.name, s.apart, s.only = s.name+", filters apart", true, []workspace.Backend{workspace.Linked}
		scenes = append(scenes, s)
	}
	return scenes
}

func (s scene) run(t *testing.T, b workspace.Backend) {
	t.Parallel()
	f := fixtureOn(t, b)
	if s.apart {
		f.confine = beside(nil)
	}
	f.write(f.root, s.base...)
	for i := 0; i < len(s.links); i += 2 {
		must(t, os.Symlink(s.links[i+1], filepath.Join(f.root, s.links[i])))
	}
	if s.setup != nil {
		s.setup(f)
	}
	base := f.commit()
	f.open()
	w := f.lease(base)
	if got := f.in(f.at(w), "status", "--porcelain"); got != "" {
		t.Fatalf("a fresh workspace is not clean: %s", got)
	}
	s.act(f, w)
	before := f.side()
	c := f.capture(w)
	if after := f.side(); after != before {
		t.Errorf("the user's side changed from\n%s\nto\n%s", before, after)
	}
	if c.Changed == s.none {
		t.Errorf("changed = %v, want %v", c.Changed, !s.none)
	}
	if got := f.files(c.Tree); s.want != nil && !slices.Equal(got, s.want) {
		t.Errorf("tree = %q, want %q", got, s.want)
	}
	if got := kinds(c); got != s.notes {
		t.Errorf("notes = %q, want %q", got, s.notes)
	}
	if c.Complete == s.partial {
		t.Errorf("complete = %v, want %v", c.Complete, !s.partial)
	}
	if s.after != nil {
		s.after(f, w, c)
	}
	if t.Failed() {
		return
	}
	r, err := f.release(w, c)
	must(t, err)
	gone := !s.partial && len(c.Ignored) == 0
	if (r.Trashed == "") != gone {
		t.Errorf("trashed = %q, want removed = %v", r.Trashed, gone)
	}
	if _, err := os.Lstat(w.Dir); err == nil {
		t.Errorf("the workspace is still there")
	}
	if got := f.git("worktree", "list"); strings.Contains(got, w.Name) {
		t.Errorf("still registered: %s", got)
	}
}

// side is the user's state that must never change: checkout, index, refs,
// stash, configuration.
func (f *fixture) side() string {
	f.t.Helper()
	var b strings.Builder
	sum := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.t.Fatalf("hash the user's side: %v", err)
		}
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(text), path)
	}
	must(f.t, filepath.WalkDir(f.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(f.root, ".git"):
			return filepath.SkipDir
		case e.Type().IsRegular():
			sum(path)
		}
		return nil
	}))
	for _, name := range []string{"index", "config", "HEAD", "logs/refs/stash"} {
		sum(filepath.Join(f.root, ".git", name))
	}
	for ref := range strings.SplitSeq(f.git("for-each-ref"), "\n") {
		if !strings.Contains(ref, "refs/swarm/") {
			b.WriteString(ref + "\n")
		}
	}
	return b.String()
}

func rm(f *fixture, paths ...string) {
	f.t.Helper()
	for _, p := range paths {
		must(f.t, os.RemoveAll(p))
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	movable := []workspace.Backend{workspace.Reflink, workspace.Linked} // of an overlay .git is a mount
	scenes := []scene{
		{
			name: "nothing", base: []string{"a", "a\n"}, none: true,
			act: func(*fixture, *workspace.Workspace) {},
		},
		{
			name: "staged, unstaged, committed, untracked, deleted, renamed",
			base: []string{"a", "a\n", "b", "b\n", "c", "c\n", "gone", "g\n", "from", "same\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "a", "committed\n")
				f.in(f.at(w), "commit", "-qam", "mine")
				f.write(f.at(w), "b", "staged\n")
				f.in(f.at(w), "add", "b")
				f.in(f.at(w), "mv", "from", "to")
				f.write(f.at(w), "c", "unstaged\n", "new/x", "x")
				rm(f, filepath.Join(f.at(w), "gone"))
			},
			want: []string{"100644 a", "100644 b", "100644 c", "100644 new/x", "100644 to"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if got := f.git("rev-parse", c.HeadRef); got != string(c.Head) || c.Head == "" {
					f.t.Errorf("%s = %s, want the agent's HEAD %s", c.HeadRef, got, c.Head)
				}
				if got := f.show(git.Hash(c.Head), "a"); got != "committed\n" {
					f.t.Errorf("the agent's own commit holds %q", got)
				}
				if want := (git.Stat{Files: 6, Added: 4, Deleted: 5}); c.Stat.Files != 6+1 && c.Stat != want {
					f.t.Errorf("stat = %+v", c.Stat)
				}
			},
		},
		{
			name:  "modes, symlinks, binary, empty, no newline",
			base:  []string{"run", "#!/bin/sh\n", "text", "t\n", "bin", "a\x00b", "was", "w\n"},
			links: []string{"ln", "text"},
			act: func(f *fixture, w *workspace.Workspace) {
				must(f.t, os.Chmod(filepath.Join(f.at(w), "run"), 0o755))
				rm(f, filepath.Join(f.at(w), "ln"), filepath.Join(f.at(w), "was"))
				must(f.t, os.Symlink("/nowhere/at all", filepath.Join(f.at(w), "ln")),
					os.Symlink("run", filepath.Join(f.at(w), "was")))
				f.write(f.at(w), "bin", "\xff\x00\x01", "empty", "", "tail", "no newline", "text", "t")
			},
			want: []string{"100644 bin", "100644 empty", "120000 ln", "100755 run", "100644 tail",
				"100644 text", "120000 was"},
		},
		{
			name:  "files become folders and the other way round",
			base:  []string{"f", "f\n", "d/x", "x\n", "d/y", "y\n", "e/z", "z\n", "s/in", "in\n"},
			links: []string{"ln", "d"},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "f"), filepath.Join(f.at(w), "d"), filepath.Join(f.at(w), "e"),
					filepath.Join(f.at(w), "ln"))
				f.write(f.at(w), "f/in", "1\n", "d", "now a file\n", "ln/real", "r\n", "elsewhere/z", "z\n")
				must(f.t, os.Symlink("elsewhere", filepath.Join(f.at(w), "e")))
			},
			want: []string{"100644 d", "120000 e", "100644 elsewhere/z", "100644 f/in", "100644 ln/real",
				"100644 s/in"},
		},
		{
			name: "odd names",
			base: []string{"-f", "x\n", "a b", "x\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "-f", "y\n", "--help", "h\n", "new\nline", "n\n", "\xff\xfe", "b\n",
					":(top)x", "m\n", ":d/x", "m\n", "tab\there", "t\n", `quo"te\`, "q\n", "*", "s\n", " ", "blank\n")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				for _, name := range []string{"-f", "--help", "new\nline", "\xff\xfe", ":(top)x", ":d/x",
					"tab\there", `quo"te\`, "*", " "} {
					f.show(c.Tree, name)
				}
			},
			want: nil,
		},
		{
			name: "a generated .gitignore hides nothing",
			base: []string{"a", "a\n", ".gitignore", "*.log\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), ".gitignore", "*\n", "new", "n\n", "venv/.gitignore", "*\n", "venv/x", "x\n",
					"y.log", "ignored")
			},
			want: []string{"100644 .gitignore", "100644 a", "100644 new", "100644 venv/.gitignore",
				"100644 venv/x"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				want := []survey.IgnoredFile{{Path: "y.log", Files: 1, Size: 7}}
				if !slices.Equal(c.Ignored, want) {
					f.t.Errorf("ignored = %+v, want %+v", c.Ignored, want)
				}
			},
		},
		{
			name: "ignored folders, negated rules, tracked files below an ignored folder",
			base: []string{"a", "a\n", ".gitignore", "vendor/\n/out/*\n!/out/keep\n", "sub/.gitignore", "*.tmp\n"},
			setup: func(f *fixture) {
				f.write(f.root, "vendor/kept", "k\n")
				f.git("add", "-f", "vendor/kept")
			},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "vendor/kept", "changed\n", "vendor/new", "12", "vendor/d/new", "345",
					"out/keep", "k\n", "out/other", "o", "sub/x.tmp", "1", "sub/deep/x.tmp", "1", "x.tmp", "new\n")
			},
			want: []string{"100644 .gitignore", "100644 a", "100644 out/keep", "100644 sub/.gitignore",
				"100644 vendor/kept", "100644 x.tmp"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				var got []string
				for _, i := range c.Ignored {
					got = append(got, i.Path)
				}
				slices.Sort(got)
				want := []string{"out/other", "sub/deep/x.tmp", "sub/x.tmp", "vendor/d/", "vendor/new"}
				if !slices.Equal(got, want) || c.IgnoredFiles != 5 || c.IgnoredSize != 8 {
					f.t.Errorf("ignored = %q %d %d, want %q", got, c.IgnoredFiles, c.IgnoredSize, want)
				}
			},
		},
		{
			name: "a nested git init",
			base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "nested/x", "x\n", "nested/deep/y", "y\n")
				f.in(filepath.Join(f.at(w), "nested"), "init", "-q")
				f.in(filepath.Join(f.at(w), "nested"), "-c", "user.name=n", "-c", "user.email=e", "add", "x")
			},
			want:  []string{"100644 a", "100644 nested/deep/y", "100644 nested/x"},
			notes: "nested_repository:nested", partial: true,
		},
		{
			name: "a deleted .git", base: []string{"a", "a\n"}, only: movable,
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), ".git"))
				f.write(f.at(w), "a", "b\n")
			},
			want: []string{"100644 a"}, notes: "git_replaced:.git",
		},
		{
			name: "a .git that became a repository", base: []string{"a", "a\n"}, only: movable,
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), ".git"))
				f.in(f.at(w), "init", "-q")
				f.in(f.at(w), "config", "core.worktree", "/")
				f.write(f.at(w), "n", "n\n")
			},
			want: []string{"100644 a", "100644 n"}, notes: "git_replaced:.git", partial: true,
		},
		{
			name: "a rewritten .git", base: []string{"a", "a\n"}, only: movable,
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), ".git", "gitdir: "+f.home+"\n", "n", "n\n")
			},
			want: []string{"100644 a", "100644 n"}, notes: "git_replaced:.git",
		},
		{
			name: "an index that lies, and its lock", base: []string{"a", "a\n", "b", "b\n", "c", "c\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.in(f.at(w), "update-index", "--assume-unchanged", "a")
				f.in(f.at(w), "update-index", "--skip-worktree", "b")
				f.in(f.at(w), "rm", "-q", "--cached", "c")
				f.write(f.at(w), "a", "A\n", "b", "B\n")
				f.write(w.Admin, "index.lock", "")
			},
			want: []string{"100644 a", "100644 b", "100644 c"},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if a, b := f.show(c.Tree, "a"), f.show(c.Tree, "b"); a != "A\n" || b != "B\n" {
					f.t.Errorf("captured %q and %q", a, b)
				}
			},
		},
		{
			name: "an index of garbage", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(w.Admin, "index", "garbage")
				f.write(f.at(w), "n", "n\n")
			},
			want: []string{"100644 a", "100644 n"},
		},
		{
			name: "times set back", base: []string{"a", "aaaa\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				path := filepath.Join(f.at(w), "a")
				at, err := os.Stat(path)
				must(f.t, err)
				f.write(f.at(w), "a", "bbbb\n")
				must(f.t, os.Chtimes(path, at.ModTime(), at.ModTime()))
			},
			want: []string{"100644 a"},
		},
		{
			name: "FIFO and socket", base: []string{"a", "a\n", "f", "f\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				rm(f, filepath.Join(f.at(w), "f"))
				must(f.t, syscall.Mkfifo(filepath.Join(f.at(w), "f"), 0o600))
				fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
				must(f.t, err)
				defer syscall.Close(fd)
				must(f.t, os.Mkdir(filepath.Join(f.at(w), "d"), 0o755))
				short, err := os.MkdirTemp("", "s") // a socket's path is bounded
				must(f.t, err)
				defer os.RemoveAll(short)
				must(f.t, os.Symlink(filepath.Join(f.at(w), "d"), filepath.Join(short, "d")))
				must(f.t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: short + "/d/s"}))
			},
			want: []string{"100644 a"}, notes: "special_file:f special_file:d/s", partial: true,
		},
		{
			name: "unreadable files and folders", base: []string{"a", "a\n", "d/x", "x\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "n", "n\n", "e/y", "y\n", "r/z", "z\n")
				must(f.t, os.Chmod(filepath.Join(f.at(w), "n"), 0),
					os.Chmod(filepath.Join(f.at(w), "a"), 0), os.Chmod(filepath.Join(f.at(w), "d"), 0),
					os.Chmod(filepath.Join(f.at(w), "e"), 0), os.Chmod(filepath.Join(f.at(w), "r"), 0o555))
			},
			want:  []string{"100644 a", "100644 d/x", "100644 e/y", "100644 n", "100644 r/z"},
			notes: "made_readable:a made_readable:n made_readable:d/ made_readable:e/",
		},
		{
			name: "names git refuses", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "git~1", "x\n", ".GIT/x", "x\n", "ok", "ok\n", "d/.Git", "x")
			},
			want:  []string{"100644 a", "100644 ok"},
			notes: "name_refused:.GIT nested_repository:d name_refused:git~1", partial: true,
		},
		{
			name: "an orphan branch", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.in(f.at(w), "checkout", "-q", "--orphan", "lost")
				f.write(f.at(w), "n", "n\n")
			},
			want: []string{"100644 a", "100644 n"}, notes: "head_invalid:",
		},
		{
			name: "a HEAD of garbage", base: []string{"a", "a\n"},
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(w.Admin, "HEAD", strings.Repeat("1", 40)+"\n")
				f.write(f.at(w), "n", "n\n")
			},
			want: []string{"100644 a", "100644 n"}, notes: "head_invalid:",
		},
		{
			name: "commits only, then back", base: []string{"a", "a\n"}, none: true,
			act: func(f *fixture, w *workspace.Workspace) {
				f.write(f.at(w), "a", "b\n")
				f.in(f.at(w), "commit", "-qam", "b")
				f.write(f.at(w), "a", "a\n")
				f.in(f.at(w), "commit", "-qam", "a again")
			},
			after: func(f *fixture, w *workspace.Workspace, c *Capture) {
				if f.git("rev-list", "--count", string(w.Base)+".."+c.HeadRef) != "2" {
					f.t.Error("the agent's two commits are not kept")
				}
			},
		},
	}
	play(t, scenes)
}

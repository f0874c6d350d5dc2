package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/baseline"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// part captures a workspace as a change of an earlier capture.
func (f *fixture) part(w *workspace.Workspace, name string, more func(*CaptureRequest)) *Capture {
	f.t.Helper()
	r := f.captureRequest(w)
	r.Ref, r.HeadRef = r.Ref+"/"+name, r.HeadRef+"/"+name
	r.PatchFile += "." + name
	more(&r)
	c, err := f.trees.Capture(f.t.Context(), r)
	if err != nil {
		f.t.Fatal(err)
	}
	if c.Changed {
		want := fmt.Sprint(c.Commit, "\n", c.Tree, "\n", c.Base)
		if got := f.git("rev-parse", c.Ref, c.Ref+"^{tree}", c.Ref+"^"); got != want {
			f.t.Errorf("commit, tree and parent of %s are\n%s, want\n%s", c.Ref, got, want)
		}
		f.git("fsck", "--connectivity-only", string(c.Commit))
		text, err := os.ReadFile(c.Patch)
		if err != nil {
			f.t.Fatal(err)
		}
		if got := f.git("diff", "--no-renames", "--full-index", "--binary", string(c.Base), string(c.Commit)); strings.TrimSpace(string(text)) != strings.TrimSpace(got) {
			f.t.Errorf("the patch file of %s is\n%s, want\n%s", name, text, got)
		}
	}
	return c
}

// on makes a capture a change of another.
func on(c *Capture) func(*CaptureRequest) { return func(r *CaptureRequest) { r.On = c.Commit } }

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// TestCaptureChain captures a workspace again and again.
func TestCaptureChain(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("lines", tenLines, "gone", "x")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), "lines", strings.Replace(tenLines, "5", "five", 1))
		first := f.part(w, "1", func(*CaptureRequest) {})
		if first.Base != base {
			t.Errorf("the first is a change of %s, want the base", first.Base)
		}
		f.write(f.at(w), "lines", strings.Replace(tenLines, "5", "V", 1), "new", "n")
		if err := os.Remove(filepath.Join(f.at(w), "gone")); err != nil {
			t.Fatal(err)
		}
		second := f.part(w, "2", on(first))
		if second.Base != first.Commit || second.Stat.Files != 3 {
			t.Errorf("the second is a change of %s in %d files, want %s and 3", second.Base, second.Stat.Files, first.Commit)
		}
		if c := f.part(w, "3", on(second)); c.Changed || c.Tree != second.Tree || c.Base != second.Commit {
			t.Errorf("a capture without a change is %+v", c)
		}
		// All taken back is a change too.
		f.write(f.at(w), "lines", tenLines, "gone", "x")
		if err := os.Remove(filepath.Join(f.at(w), "new")); err != nil {
			t.Fatal(err)
		}
		if c := f.part(w, "4", on(second)); !c.Changed || c.Base != second.Commit || c.Stat.Files != 3 {
			t.Errorf("a capture of what was taken back is %+v", c)
		}
	})
}

// TestCaptureChainGoesOn makes the workspace anew from a capture. The rules
// stay those of the base.
func TestCaptureChainGoesOn(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("lines", tenLines, "gone", "x")
		f.open()
		w := f.lease(base)
		f.write(f.at(w), ".gitignore", "*\n", "lines", "other\n")
		if err := os.Remove(filepath.Join(f.at(w), "gone")); err != nil {
			t.Fatal(err)
		}
		first := f.part(w, "1", func(*CaptureRequest) {})
		next := f.lease(base)
		if err := f.trees.Restore(t.Context(), *next, first.Commit); err != nil {
			t.Fatal(err)
		}
		if c := f.part(next, "1", on(first)); c.Changed {
			t.Errorf("what was restored differs: %+v", c.Files)
		}
		f.write(f.at(next), "new", "n")
		second := f.part(next, "2", on(first))
		if got := fmt.Sprint(f.files(second.Tree)); got != "[100644 .gitignore 100644 lines 100644 new]" {
			t.Errorf("files = %s", got)
		}
		if second.Stat.Files != 1 {
			t.Errorf("it changes %d files, want 1", second.Stat.Files)
		}
	})
}

// TestCaptureWith takes an earlier change of the same worker in.
func TestCaptureWith(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		for i, test := range []struct {
			name          string
			others, again string // lines before the earlier change, after others', and after its own
			files         int    // of the last capture
			notes         string
			isOn          string // the commit that the last capture is a change from
		}{
			{"others elsewhere", "one 2 3 4 5 6 7 8 nine 10", "one 2 3 4 five 6 7 8 nine 10", 2, "", "rest"},
			{"others nowhere", "", "one 2 3 4 five 6 7 8 9 10", 2, "", "base"},
			{"others on it", "ONE 2 3 4 5 6 7 8 9 10", "ONE 2 3 4 five 6 7 8 9 10", 2, "entangled:", "base"},
			{"taken back", "one 2 3 4 5 6 7 8 nine 10", "- 1 2 3 4 5 6 7 8 nine 10", 2, "", "on"},
		} {
			if !hasTurn(t, i, b) {
				continue
			}
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				base := f.commit("lines", tenLines)
				f.open()
				w := f.lease(base)
				lines := func(text string) string { return strings.Join(strings.Fields(text), "\n") + "\n" }
				f.write(f.at(w), "lines", lines("one 2 3 4 5 6 7 8 9 10"), "a", "a")
				mine := f.part(w, "1", func(*CaptureRequest) {})
				theirs := mine
				if test.others != "" {
					f.write(f.at(w), "lines", lines(test.others))
					theirs = f.part(w, "2", on(mine))
				}
				text, back := strings.CutPrefix(test.again, "- ")
				f.write(f.at(w), "lines", lines(text))
				if back {
					if err := os.Remove(filepath.Join(f.at(w), "a")); err != nil {
						t.Fatal(err)
					}
				}
				request := func(r *CaptureRequest) {
					r.On, r.With = theirs.Commit, &Span{Base: mine.Base, Commit: mine.Commit}
				}
				c := f.part(w, "3", request)
				if c.Stat.Files != test.files || kinds(c) != test.notes {
					t.Errorf("it changes %d files with notes %q, want %d and %q", c.Stat.Files, kinds(c), test.files, test.notes)
				}
				switch test.isOn {
				case "base":
					want(t, "origin", c.Base, base)
				case "on":
					want(t, "origin", c.Base, theirs.Commit)
				case "rest":
					want(t, "rest", f.show(git.Hash(f.git("rev-parse", string(c.Base)+"^{tree}")), "lines"),
						lines("1 2 3 4 5 6 7 8 nine 10"))
				}
				// Done again it is the same: the first time may have been cut off.
				if again := f.part(w, "3", request); again.Commit != c.Commit || again.Ref != c.Ref {
					t.Errorf("done again it is %s at %s, want %s at %s", again.Commit, again.Ref, c.Commit, c.Ref)
				}
			})
		}
	})
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// TestCaptureLiveMoves has files go, and become something else, between the
// look at them and their turn.
func TestCaptureLiveMoves(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		outside := filepath.Join(t.TempDir(), "outside")
		for i, test := range []struct {
			name string
			move func(dir string) error
			want string
		}{
			{"a file goes", func(d string) error { return os.Remove(d + "/d/new") }, "[.gitattributes d/old]"},
			{"a file of the base goes", func(d string) error { return os.Remove(d + "/d/old") }, "[.gitattributes d/new]"},
			{"a folder goes", func(d string) error { return os.RemoveAll(d + "/d") }, "[.gitattributes]"},
			{"rules go", func(d string) error { return os.Remove(d + "/.gitattributes") }, "[d/new d/old]"},
			{"a folder for a file", func(d string) error {
				return firstOf(os.Remove(d+"/d/new"), os.Mkdir(d+"/d/new", 0o700))
			}, "[.gitattributes d/old]"},
			{"a pipe for a file", func(d string) error {
				return firstOf(os.Remove(d+"/d/new"), syscall.Mkfifo(d+"/d/new", 0o600))
			}, "[.gitattributes d/old]"},
			{"a pipe for rules", func(d string) error {
				return firstOf(os.Remove(d+"/.gitattributes"), syscall.Mkfifo(d+"/.gitattributes", 0o600))
			}, "[d/new d/old]"},
			{"a file for a folder", func(d string) error {
				return firstOf(os.RemoveAll(d+"/d"), os.WriteFile(d+"/d", nil, 0o600))
			}, "[.gitattributes]"},
			{"a way out for a folder", func(d string) error {
				return firstOf(os.RemoveAll(d+"/d"), os.Symlink(outside, d+"/d"))
			}, "[.gitattributes]"},
		} {
			if !hasTurn(t, i, b) {
				continue
			}
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				f := fixtureOn(t, b)
				f.write(outside, "new", "secret", "old", "secret")
				base := f.commit("d/old", "1", ".gitattributes", "*.x -text\n")
				f.open()
				w := f.lease(base)
				f.write(f.at(w), "d/old", "2", "d/new", "n", ".gitattributes", "*.y -text\n")
				f.step = func(name string) error {
					if name != "surveyed" {
						return nil
					}
					f.step = nil
					return test.move(f.at(w))
				}
				c := f.part(w, "1", func(r *CaptureRequest) { r.Live = true })
				files := strings.Fields(f.git("ls-tree", "-r", "--name-only", string(c.Tree)))
				want(t, "files", files, test.want)
				want(t, "notes", kinds(c), "")
			})
		}
	})
}

func firstOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestCaptureLive captures while others write, truncate, rename and remove.
// No capture fails, and the last, when all is quiet, holds everything.
func TestCaptureLive(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("lines", tenLines, "d/a", "a", "d/e/b", "b")
		f.open()
		w := f.lease(base)
		stop := make(chan struct{})
		var busy sync.WaitGroup
		dir := f.at(w)
		quiet := sync.OnceFunc(func() { close(stop); busy.Wait() })
		defer quiet()
		for n := range 3 {
			busy.Go(func() { disturb(dir, n, stop) })
		}
		tip := &Capture{Commit: base}
		for i := range campaign.Rounds(t, 4, 20) {
			c := f.part(w, fmt.Sprint(i), func(r *CaptureRequest) { r.On, r.Live = tip.Commit, true })
			for _, note := range c.Notes {
				t.Errorf("note: %s", note)
			}
			if c.Changed {
				tip = c
			}
		}
		quiet()
		last := f.part(w, "last", on(tip))
		if got := f.added(w); string(last.Tree) != got {
			t.Errorf("the last capture is not what is there: %s", f.git("diff", "--stat", got, string(last.Tree)))
		}
		if out, err := f.release(w, last); err != nil || out.Trashed != "" {
			t.Errorf("Release = %+v, %v", out, err)
		}
	})
}

// disturb changes files until it is told to stop. Errors are of no account:
// another does the same.
func disturb(dir string, n int, stop chan struct{}) {
	long := []byte(strings.Repeat("a long line of text\n", 4000))
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		path := filepath.Join(dir, fmt.Sprintf("n%d/f%d", i%3, i%7))
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		_ = os.WriteFile(path, long[:(i*7919)%len(long)], 0o600)
		_ = os.Truncate(path, 10)
		switch i % 5 {
		case 0:
			_ = os.Rename(path, filepath.Join(dir, fmt.Sprintf("moved%d", n)))
		case 1:
			_ = os.RemoveAll(filepath.Dir(path))
		case 2:
			_ = os.WriteFile(filepath.Join(dir, "lines"), long[:i%500], 0o600)
		}
	}
}

// TestTakeLive holds that git never reads a file that others write to.
func TestTakeLive(t *testing.T) {
	t.Parallel()
	dir, scratch := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("before"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &staging{scratch: scratch, space: root, capturing: &capturing{
		CaptureRequest: CaptureRequest{Workspace: workspace.Workspace{Dir: dir}, Live: true},
	}}
	if err := firstOf(s.take("file"), os.WriteFile(file, nil, 0o700)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(scratch, "file"))
	want(t, "what git reads", string(text), "before")
	if at, serr := os.Stat(filepath.Join(scratch, "file")); err != nil || serr != nil || baseline.ModeOf(at) != baseline.ModeExec {
		t.Errorf("its mode is %v (%v, %v)", at, err, serr)
	}
}

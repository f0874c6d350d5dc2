package git

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wantFiles fails where files of the yard hold something else; an empty
// content is a file that is not there.
func (y *yard) wantFiles(want map[string]string) {
	y.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(y.dir, name))
		if string(got) != text || (err != nil) != (text == "") {
			y.Errorf("%s is %q, %v; want %q", name, got, err, text)
		}
	}
}

// fork is a commit that changes a, deletes d/b and makes d/b/c and e/f; the
// checkout stays where it is.
func (y *yard) fork() (from, to Hash) {
	y.Helper()
	from = y.hash("HEAD")
	y.write("a", "2\n")
	y.must(os.Remove(filepath.Join(y.dir, "d/b")))
	y.write("d/b/c", "new\n")
	y.write("e/f", "new\n")
	to = y.commit()
	y.git("reset", "-q", "--hard", string(from))
	return from, to
}

func TestMoveCheckout(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.write("keep", "1\n")
	y.commit()
	from, to := y.fork()
	y.write("keep", "staged\n")
	y.git("add", "keep")
	y.write("keep", "changed\n")
	y.write("untracked", "mine\n")
	y.write("a", "1\n") // as it was, but git does not know yet

	y.must(y.repo.MoveCheckout(t.Context(), from, to))
	y.wantFiles(map[string]string{
		"a": "2\n", "d/b/c": "new\n", "e/f": "new\n", "keep": "changed\n", "untracked": "mine\n",
	})
	y.git("update-ref", "HEAD", string(to))
	if got := y.git("status", "--porcelain"); got != "MM keep\n?? untracked" {
		t.Errorf("status is %q", got)
	}
	y.must(y.repo.MoveCheckout(t.Context(), to, from))
	y.git("update-ref", "HEAD", string(from))
	y.wantFiles(map[string]string{"a": "1\n", "d/b": "1\n", "e/f": "", "keep": "changed\n"})
	if got := y.git("status", "--porcelain"); got != "MM keep\n?? untracked" {
		t.Errorf("status is %q", got)
	}
}

// TestMoveCheckoutFails: git cannot write a file, or is killed; what it
// wrote before goes back, and nothing stays locked.
func TestMoveCheckoutFails(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"false", "kill -KILL $PPID; false"} {
		y := newYard(t)
		from, to := y.fork()
		y.git("config", "filter.bad.smudge", filter)
		y.git("config", "filter.bad.required", "true")
		y.write(".git/info/attributes", "e/* filter=bad\n")
		before := y.git("ls-files", "-s")
		if err := y.repo.MoveCheckout(t.Context(), from, to); err == nil {
			t.Errorf("MoveCheckout with filter %q: want an error", filter)
		}
		y.wantFiles(map[string]string{"a": "1\n", "d/b": "1\n", "e/f": "", ".git/index.lock": ""})
		if after := y.git("ls-files", "-s"); after != before {
			t.Errorf("the index changed from %s to %s", before, after)
		}
	}
}

// TestUnlockIndex: the lock of a git that was killed goes, also where the clock
// of files, which is behind ours, was still in the second before.
func TestUnlockIndex(t *testing.T) {
	t.Parallel()
	second := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		name  string
		made  time.Time
		stays bool
	}{
		{"after", second.Add(2 * time.Millisecond), false},
		{"by a clock of ticks", second.Add(-time.Millisecond), false},
		{"of whole seconds", second, false},
		{"another git's", second.Add(-2 * time.Second), true},
	} {
		r := &Repo{GitDir: t.TempDir()}
		lock := filepath.Join(r.GitDir, "index.lock")
		for _, err := range []error{
			os.WriteFile(lock, nil, 0o600), os.Chtimes(lock, tt.made, tt.made), r.unlockIndex(second.Add(time.Millisecond)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Lstat(lock); (err == nil) != tt.stays {
			t.Errorf("%s: %v, want it there: %v", tt.name, err, tt.stays)
		}
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	from, to := y.fork()
	want := func(want Standing) {
		t.Helper()
		got, err := y.repo.Standing(t.Context(), from, to)
		if err != nil || got != want {
			t.Errorf("Standing = %s, %v; want %s", got, err, want)
		}
	}
	want(Before)
	y.write("a", "2\n")
	want(Between)
	y.git("add", "a")
	want(Between)
	y.git("reset", "-q", "--hard")
	y.must(y.repo.MoveCheckout(t.Context(), from, to))
	want(After)
	y.git("reset", "-q", "e/f")
	want(Between)
}

func TestPutBack(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give map[string]string
		left []string
		want map[string]string
	}{
		{
			"nothing begun", nil, nil,
			map[string]string{"a": "1\n", "d/b": "1\n", "e/f": ""},
		},
		{
			"some written", map[string]string{"a": "2\n", "e/f": "new\n"}, nil,
			map[string]string{"a": "1\n", "d/b": "1\n", "e/f": ""},
		},
		{
			"one taken away", map[string]string{"a": ""}, nil,
			map[string]string{"a": "1\n", "d/b": "1\n", "e/f": ""},
		},
		{
			"half written", map[string]string{"a": "", "e/f": "ne"}, []string{"e/f"},
			map[string]string{"a": "1\n", "d/b": "1\n", "e/f": "ne"},
		},
		{
			"changed since", map[string]string{"a": "mine\n", "e/f": "new\n"}, []string{"a"},
			map[string]string{"a": "mine\n", "d/b": "1\n", "e/f": ""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			from, to := y.fork()
			for name, text := range tt.give {
				if text == "" {
					y.must(os.Remove(filepath.Join(y.dir, name)))
				} else {
					y.write(name, text)
				}
			}
			left, err := y.repo.PutBack(t.Context(), from, to)
			if err != nil || !slices.Equal(left, tt.left) {
				t.Errorf("PutBack = %q, %v; want %q", left, err, tt.left)
			}
			y.wantFiles(tt.want)
			if _, err := os.Lstat(filepath.Join(y.dir, "e")); err == nil && tt.want["e/f"] == "" {
				t.Error("an empty folder was left")
			}
		})
	}
}

func TestNamedPaths(t *testing.T) {
	t.Parallel()
	give := "error: Entry 'a b' not uptodate. Cannot merge.\n" +
		"error: Untracked working tree file 'd/it's' would be overwritten by merge.\n" +
		"error: Your local changes to the following files would be overwritten by checkout:\n" +
		"\tz\n\ty\nPlease commit\n"
	want := []string{"a b", "d/it's", "y", "z"}
	if got := namedPaths(give); !slices.Equal(got, want) {
		t.Errorf("namedPaths = %q, want %q", got, want)
	}
	if got := namedPaths("fatal: bad object"); len(got) != 0 {
		t.Errorf("namedPaths of another error = %q, want none", got)
	}
}

func TestDirtyErrorIsShort(t *testing.T) {
	t.Parallel()
	err := &DirtyError{Dir: "/x", Paths: []string{"1", "2", "3", "4", "5", "6", "7"}}
	if got := err.Error(); !strings.HasSuffix(got, `"5" and 2 more`) {
		t.Errorf("Error = %s", got)
	}
}

// TestHolders: who stands on a branch, and who will come back to it.
func TestHolders(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	want := func(ref string, want ...string) {
		t.Helper()
		holders, err := y.repo.Holders(t.Context(), ref)
		y.must(err)
		var got []string
		for _, h := range holders {
			got = append(got, filepath.Base(h.Repo.TopLevel)+": "+h.Doing)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Holders(%s) = %q, want %q", ref, got, want)
		}
	}
	want("refs/heads/main", "a yard: ")
	want("refs/heads/none")
	linked := filepath.Join(y.home, "linked")
	y.git("worktree", "add", "-q", "-b", "other", linked)
	want("refs/heads/other", "linked: ")

	other, err := New(y.environ()).Discover(t.Context(), linked)
	y.must(err)
	y.repo = other
	want("refs/heads/main", "a yard: ")
	want("refs/heads/other", "linked: ")

	y.git("-C", linked, "checkout", "-q", "--detach")
	want("refs/heads/other")
	admin := filepath.Join(y.dir, ".git", "worktrees", "linked", "rebase-merge")
	y.must(os.Mkdir(admin, 0o755))
	y.must(os.WriteFile(filepath.Join(admin, "head-name"), []byte("refs/heads/other\n"), 0o644))
	want("refs/heads/other", "linked: a rebase")
	y.repo, err = New(y.environ()).Discover(t.Context(), y.dir)
	y.must(err)
	y.must(os.RemoveAll(linked))
	want("refs/heads/other")
}

func TestApplyPatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	from, to := y.fork()
	file := filepath.Join(y.home, "patch")
	out, err := os.Create(file)
	y.must(err)
	y.must(y.q.WritePatch(t.Context(), out, from, to))
	y.must(out.Close())
	y.must(y.repo.ApplyPatch(t.Context(), ApplyRequest{File: file, Check: true}))
	// The repository writes the same text.
	var again bytes.Buffer
	y.must(y.repo.WritePatch(t.Context(), &again, from, to))
	written, err := os.ReadFile(file)
	y.must(err)
	if !bytes.Equal(again.Bytes(), written) {
		t.Errorf("the repository writes\n%s\nthe quarantine wrote\n%s", &again, written)
	}
	text := ApplyRequest{File: "named only", Text: &again}
	y.must(y.repo.ApplyPatch(t.Context(), text))
	y.wantFiles(map[string]string{"a": "2\n", "d/b/c": "new\n", "e/f": "new\n"})
	y.must(y.repo.ApplyPatch(t.Context(), ApplyRequest{File: file, Reverse: true}))
	y.write("d/b", "other\n")
	err = y.repo.ApplyPatch(t.Context(), ApplyRequest{File: file})
	var unfit *PatchError
	if !errors.As(err, &unfit) || !slices.Contains(unfit.Paths, "d/b") {
		t.Errorf("ApplyPatch: %v, want a PatchError of d/b", err)
	}
	y.wantFiles(map[string]string{"a": "1\n", "d/b": "other\n", "e/f": ""})
	y.write("d/b", "1\n")
	y.must(y.repo.ApplyPatch(t.Context(), ApplyRequest{File: file}))
	y.wantFiles(map[string]string{"a": "2\n", "d/b/c": "new\n", "e/f": "new\n"})
	y.must(y.repo.ApplyPatch(t.Context(), ApplyRequest{File: file, Reverse: true}))
	y.wantFiles(map[string]string{"a": "1\n", "d/b": "1\n", "e/f": ""})
}

func TestContains(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	from, to := y.fork()
	for _, tt := range []struct {
		commit, ancestor Hash
		want             bool
	}{{to, from, true}, {from, to, false}, {to, to, true}} {
		if got, err := y.repo.Contains(t.Context(), tt.commit, tt.ancestor); err != nil || got != tt.want {
			t.Errorf("Contains(%s, %s) = %v, %v; want %v", tt.commit, tt.ancestor, got, err, tt.want)
		}
	}
	if _, err := y.repo.Contains(t.Context(), to, "1111"); err == nil {
		t.Error("Contains with a commit that is not there: want an error")
	}
}

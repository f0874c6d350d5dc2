package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// wantFiles fails where files of the fixture hold something else; an empty
// content is a file that is not there.
func (y *objectFixture) wantFiles(want map[string]string) {
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
func (y *objectFixture) fork() (from, to Hash) {
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

func TestOverwrites(t *testing.T) {
	t.Parallel()
	give := "error: Entry 'a b' not uptodate. Cannot merge.\n" +
		"error: Untracked working tree file 'd/it's' would be overwritten by merge.\n" +
		"error: Your local changes to the following files would be overwritten by checkout:\n" +
		"\tz\n\ty\nPlease commit\n"
	want := []string{"a b", "d/it's", "y", "z"}
	if got := (&Error{Stderr: give}).Overwrites(); !slices.Equal(got, want) {
		t.Errorf("Overwrites = %q, want %q", got, want)
	}
	for _, other := range []string{"fatal: bad object", "fatal: cannot create directory at 'd': No space left on device"} {
		if got := (&Error{Stderr: other}).Overwrites(); len(got) != 0 {
			t.Errorf("Overwrites of %q = %q, want none", other, got)
		}
	}
}

// TestWriteCauses: git says in several ways that it could not write.
func TestWriteCauses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stderr, path string
		errno        syscall.Errno
	}{
		{"error: unable to create file d/a b: No space left on device\nfatal: unable to checkout", "d/a b", syscall.ENOSPC},
		{"fatal: cannot create directory at 'd/e': Read-only file system", "d/e", syscall.EROFS},
		{"error: unable to create symlink l: Permission denied", "l", syscall.EACCES},
		{"error: unable to write file a\n", "a", 0},
		{"error: external filter 'x' failed", "", 0},
	} {
		e := &Error{Stderr: tt.stderr}
		if path, errno := e.Unwritten(), e.Errno(); path != tt.path || errno != tt.errno {
			t.Errorf("%q is %q, %v; want %q, %v", tt.stderr, path, errno, tt.path, tt.errno)
		}
	}
}

// TestCause: of two programs at a pipe, the error that is shown is no consequence of
// the other.
func TestCause(t *testing.T) {
	t.Parallel()
	full := &Error{Code: 128, Stderr: "fatal: write error: No space left on device"}
	bad := &Error{Code: 128, Stderr: "fatal: bad object"}
	cut := &Error{Code: 128, Stderr: "fatal: early EOF"}
	for name, tt := range map[string]struct{ writer, reader, want error }{
		"both end well":          {},
		"the writer fails":       {bad, cut, bad},
		"the writer alone":       {writer: bad, want: bad},
		"the reader alone":       {reader: full, want: full},
		"the disk is full":       {&Error{Code: -1}, full, full},
		"the reader says more":   {&Error{Code: 128, Stderr: "fatal: sha1 file '<stdout>' write error: Broken pipe"}, full, full},
		"the reader goes":        {&Error{Code: -1}, bad, bad},
		"the pipe was closed":    {fmt.Errorf("read/write: %w", io.ErrClosedPipe), bad, bad},
		"the writer has no room": {full, cut, full},
	} {
		if got := cause(tt.writer, tt.reader); !errors.Is(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%s: cause = %v, want %v", name, got, tt.want)
		}
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
	y := newObjectFixture(t)
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
	y := newObjectFixture(t)
	from, to := y.fork()
	file := filepath.Join(y.home, "patch")
	out, err := os.Create(file)
	y.must(err)
	y.must(y.q.WritePatch(t.Context(), out, from, to))
	y.must(out.Close())
	// The repository writes the same text.
	var again bytes.Buffer
	y.must(y.repo.WritePatch(t.Context(), &again, from, to))
	written, err := os.ReadFile(file)
	y.must(err)
	if !bytes.Equal(again.Bytes(), written) {
		t.Errorf("the repository writes\n%s\nthe quarantine wrote\n%s", &again, written)
	}
	index := filepath.Join(y.home, "patched")
	tree := func(from Hash, a ApplyRequest) (string, error) {
		env := []string{"GIT_INDEX_FILE=" + index}
		_, err := y.q.Run(t.Context(), Cmd{Args: []string{"read-tree", string(from)}, Env: env})
		y.must(err)
		a.Index = index
		err = y.q.ApplyPatch(t.Context(), a)
		out, terr := y.q.Run(t.Context(), Cmd{Args: []string{"write-tree"}, Env: env})
		y.must(terr)
		return strings.TrimSpace(string(out)), err
	}
	for _, tt := range []struct {
		name string
		from Hash
		give ApplyRequest
		want Hash
	}{
		{"a file", from, ApplyRequest{File: file}, to},
		{"text", from, ApplyRequest{File: "named only", Text: &again}, to},
		{"taken out", to, ApplyRequest{File: file, Reverse: true}, from},
	} {
		got, err := tree(tt.from, tt.give)
		if want := y.git("rev-parse", string(tt.want)+"^{tree}"); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, want)
		}
	}
	y.write("d/b", "other\n")
	other := y.commit()
	got, err := tree(other, ApplyRequest{File: file})
	var unfit *PatchError
	if !errors.As(err, &unfit) || !slices.Contains(unfit.Paths, "d/b") {
		t.Errorf("ApplyPatch: %v, want a PatchError of d/b", err)
	}
	if want := y.git("rev-parse", string(other)+"^{tree}"); got != want {
		t.Errorf("a patch that does not fit made %s, want %s", got, want)
	}
	y.wantFiles(map[string]string{"a": "1\n", "d/b": "other\n", "e/f": ""})
}

func TestContains(t *testing.T) {
	t.Parallel()
	y := newObjectFixture(t)
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

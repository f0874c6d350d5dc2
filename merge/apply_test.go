package merge

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/worktree/git"
)

// applying is the patch from base to a commit, as a file.
func (f *fixture) applying(base, to git.Hash) ApplyRequest {
	f.Helper()
	changes, err := f.q.Changes(f.Context(), base, to)
	f.must(err)
	path := filepath.Join(f.TempDir(), "patch")
	file, err := os.Create(path)
	f.must(err)
	f.must(f.q.WritePatch(f.Context(), file, base, to))
	f.must(file.Close())
	return ApplyRequest{
		Repo: f.repo, File: path, Changes: changes, Record: f.record("1"), Journal: func() error { return nil },
	}
}

// index is the user's index, byte for byte.
func (f *fixture) index() string {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, ".git", "index"))
	f.must(err)
	return fmt.Sprintf("%x", text)
}

// TestApply: files change, nothing else does, and all comes back.
func TestApply(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.work(base)
	f.dirt()
	before, mine, index := f.all(), f.mine(), f.index()
	disk := f.onDisk(touches)
	req := f.applying(base, to)
	applied, err := Apply(t.Context(), req)
	f.must(err)
	if got := f.index(); got != index {
		t.Error("the index changed")
	}
	if got := f.mine(); got != mine {
		t.Errorf("the user's side changed from\n%s\nto\n%s", mine, got)
	}
	twin := *f
	twin.dir = filepath.Join(t.TempDir(), "twin")
	agents := f.git("for-each-ref", "--format=%(objectname)", "refs/swarm/k3x9q2/a/")
	f.git("worktree", "add", "-q", "--detach", twin.dir, agents)
	if got, want := f.onDisk(touches), twin.onDisk(touches); got != want {
		t.Errorf("files are\n%s\nwant\n%s", got, want)
	}
	f.git("worktree", "remove", "--force", twin.dir)
	var dirty *DirtyError
	if _, err := Apply(t.Context(), req); !errors.As(err, &dirty) {
		t.Errorf("applying twice: %v, want a DirtyError", err)
	}

	undo := UnapplyRequest{
		Repo: f.repo, File: req.File, Applied: *applied, Record: f.record("2"), Journal: func() error { return nil },
	}
	f.write(map[string]string{"a": "x:2\nmine\n"})
	now := f.all()
	if err := Unapply(t.Context(), undo); !errors.As(err, &dirty) || !slices.Equal(dirty.Paths, []string{"a"}) {
		t.Errorf("taking out a file that changed since: %v, want a DirtyError of a", err)
	}
	if f.all() != now {
		t.Error("a refused undo changed something")
	}
	f.write(map[string]string{"a": "x:2\n"})
	f.must(Unapply(t.Context(), undo))
	if got := f.onDisk(touches); got != disk {
		t.Errorf("files are\n%s\nwant\n%s", got, disk)
	}
	if got := f.all(); got != before {
		t.Error("apply and its undo left something behind")
	}
	if err := Unapply(t.Context(), undo); !errors.As(err, &dirty) {
		t.Errorf("undoing twice: %v, want a DirtyError", err)
	}
}

// TestApplyRefuses: nothing of the user's is overwritten, half a patch never
// applied.
func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(f *fixture)
		want []string // of a DirtyError; none: a PatchError
	}{
		{"changed", func(f *fixture) { f.write(map[string]string{"a": "mine\n"}) }, []string{"a"}},
		{"staged", func(f *fixture) { f.write(map[string]string{"b": "mine\n"}); f.git("add", "b") }, []string{"b"}},
		{"untracked in the way", func(f *fixture) { f.write(map[string]string{"e/new": "mine\n"}) }, []string{"e/new"}},
		{
			"ignored in the way",
			func(f *fixture) {
				f.write(map[string]string{".git/info/exclude": "/e/\n", "e/new": "mine\n"})
			},
			[]string{"e/new"},
		},
		{"folder in the way", func(f *fixture) { f.write(map[string]string{"d/mine": "mine\n"}) }, []string{"d/mine"}},
		{"does not fit", func(f *fixture) { f.commit(map[string]string{"a": "other\n"}) }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			base := f.ground()
			req := f.applying(base, f.work(base))
			tt.make(f)
			before := f.all()
			_, err := Apply(t.Context(), req)
			var dirty *DirtyError
			var unfit *git.PatchError
			switch {
			case tt.want == nil:
				if !errors.As(err, &unfit) || !slices.Equal(unfit.Paths, []string{"a"}) {
					t.Errorf("Apply: %v, want a PatchError of a", err)
				}
			case !errors.As(err, &dirty) || !slices.Equal(dirty.Paths, tt.want):
				t.Errorf("Apply: %v, want a DirtyError of %q", err, tt.want)
			}
			if f.all() != before {
				t.Error("something changed")
			}
		})
	}
}

// TestApplyOddFiles: binary, no line at the end, names, CRLF, from a folder
// below the top.
func TestApplyOddFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.git("config", "core.autocrlf", "true")
	f.git("config", "apply.whitespace", "error")
	f.open()
	base := f.commit(map[string]string{"bin": "a\x00b", "end": "no end", "crlf": "1\r\n2\r\n", "sub/x": "1"})
	to := f.side(base, map[string]string{
		"bin": "a\x00c", "end": "none still", "crlf": "1\r\n2\r\n3  \r\n",
		"ö \"q\"": "odd\r\n", "sub/x": "",
	})
	repo, err := git.New(f.environ()).Discover(t.Context(), filepath.Join(f.dir, "sub"))
	f.must(err)
	f.repo = repo
	req := f.applying(base, to)
	applied, err := Apply(t.Context(), req)
	f.must(err)
	f.git("add", "-A")
	if got, want := f.git("write-tree"), f.git("rev-parse", string(to)+"^{tree}"); got != want {
		t.Errorf("applied tree is %s, want %s: %s", got, want, f.git("diff", "--cached", "--stat", string(to)))
	}
	f.git("reset", "-q")
	f.must(Unapply(t.Context(), UnapplyRequest{
		Repo: repo, File: req.File, Applied: *applied, Record: f.record("2"), Journal: req.Journal,
	}))
	if got := f.git("status", "--porcelain"); got != "" {
		t.Errorf("status after undo is %q", got)
	}
}

func TestApplyRefusesSubmodules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.ground()
	to := f.commitPlain(base, map[string]string{"sub": "160000,1111111111111111111111111111111111111111"})
	var module *SubmoduleError
	if _, err := Apply(t.Context(), f.applying(base, to)); !errors.As(err, &module) {
		t.Errorf("Apply: %v, want a SubmoduleError", err)
	}
	bare := *f.repo
	bare.TopLevel = ""
	if _, err := Apply(t.Context(), ApplyRequest{Repo: &bare}); err == nil {
		t.Error("Apply in a bare repository: want an error")
	}
}

// TestApplySparse: files that a sparse checkout leaves out cannot be changed on
// disk; files that it has can.
func TestApplySparse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit(map[string]string{"in/x": "1\n", "out/x": "1\n", "out/y": "1\n"})
	inside := f.applying(base, f.side(base, map[string]string{"in/x": "2\n"}))
	outside := f.applying(base, f.side(base, map[string]string{"in/x": "2\n", "out/x": "2\n", "out/y": ""}))
	f.git("sparse-checkout", "set", "--cone", "in")
	before := f.all()
	var sparse *SparseError
	if _, err := Apply(t.Context(), outside); !errors.As(err, &sparse) || !slices.Equal(sparse.Paths, []string{"out/x", "out/y"}) {
		t.Errorf("Apply: %v, want a SparseError of out/x and out/y", err)
	}
	if f.all() != before {
		t.Error("something changed")
	}
	if _, err := Apply(t.Context(), inside); err != nil {
		t.Errorf("Apply inside of it: %v", err)
	}
	// A left-out file that lies there all the same, with the commit's content,
	// is changed.
	f.must(os.MkdirAll(filepath.Join(f.dir, "out"), 0o755))
	f.write(map[string]string{"in/x": "1\n", "out/x": "1\n", "out/y": "1\n"})
	if _, err := Apply(t.Context(), outside); err != nil {
		t.Errorf("Apply to files that are there: %v", err)
	}
}

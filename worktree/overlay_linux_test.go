package worktree

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/precheck"
	"agentswarm/worktree/workspace"
)

// private gives the fixture a backend whose workspaces are made so.
func (f *fixture) private(b workspace.Backend) {
	f.t.Helper()
	f.kind = b
	f.trees = f.backend()
}

// listing is all that is in a folder: names, modes, sizes, times, targets.
func listing(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := e.Info()
		if err == nil {
			b.WriteString(path + " " + at.Mode().String() + " " + at.ModTime().String() + "\n")
		}
		return err
	}))
	return b.String()
}

// differ are the lines that only one of two listings has.
func differ(before, after string) string {
	in := map[string]bool{}
	for line := range strings.Lines(before) {
		in[line] = true
	}
	var b strings.Builder
	for line := range strings.Lines(after) {
		if !in[line] {
			b.WriteString("+" + line)
		}
		delete(in, line)
	}
	for line := range in {
		b.WriteString("-" + line)
	}
	return b.String()
}

// TestGitInside holds that every command of git works in a workspace with a
// git dir of its own, and that none touches the repository.
func TestGitInside(t *testing.T) {
	t.Parallel()
	eachOf(t, private(), gitInside)
}

func gitInside(t *testing.T, b workspace.Backend) {
	f := newFixture(t)
	f.commit("a", "a\n", "d/b", "b\n", ".gitignore", "*.o\n")
	f.git("tag", "-m", "v1", "v1")
	base := f.commit("a", "a2\n", "d/c", "c\n")
	f.git("branch", "other", "HEAD~1")
	f.open()
	namespaces(t, f)
	f.private(b)
	before := listing(t, f.repo.CommonDir)
	w := f.lease(base)
	got := f.inside(w, `
		test "$(git status --porcelain)" = ""
		test "$(git rev-parse HEAD)" = `+string(base)+`
		test "$(git symbolic-ref HEAD)" = refs/heads/main
		echo x > x; git add x; git commit -qm x; git commit -q --amend -m y
		echo z >> a; git stash -q; git stash pop -q; git checkout -q a
		git switch -qc topic; git rebase -q other; git switch -q main
		git branch -qD topic; git tag -d v1 >&2; git config a.b c
		git gc -q; git fsck --strict >&2; git worktree list
		git log --oneline | wc -l
	`)
	if !strings.HasSuffix(got, "3") {
		t.Errorf("inside: %s", got)
	}
	if d := differ(before, listing(t, f.repo.CommonDir)); d != "" {
		t.Errorf("the repository was touched:\n%s", d)
	}
	must(t, f.trees.Drop(t.Context(), *w))
	f.clean(w)
}

// BenchmarkLeasePrivate measures the lease of a workspace on an existing base
// and of the first workspace on a base. It compares them with `git worktree
// add` of the same commit.
func BenchmarkLeasePrivate(b *testing.B) {
	root := os.Getenv("WORKTREE_BENCH_REPO")
	if root == "" {
		b.Skip("WORKTREE_BENCH_REPO names no repository")
	}
	f := newFixture(b)
	f.openAt(root)
	f.root = root
	base := git.Hash(f.git("rev-parse", "HEAD"))
	for _, kind := range []workspace.Backend{workspace.Overlay, workspace.Reflink} {
		if err := precheck.Refuses(kind, precheck.Surroundings{At: root, State: f.state}); err != nil {
			continue
		}
		b.Run(string(kind)+"/cold", func(b *testing.B) {
			for b.Loop() {
				f.private(kind)
				f.lease(base)
				b.StopTimer()
				must(b, f.trees.Close(), disk.RemoveAll(f.trees.Dir), disk.RemoveAll(f.trees.Bases), os.MkdirAll(f.trees.Dir, 0o700))
				b.StartTimer()
			}
		})
		b.Run(string(kind)+"/warm", func(b *testing.B) {
			f.private(kind)
			f.lease(base)
			for b.Loop() {
				f.lease(base)
			}
		})
	}
	b.Run("git worktree add", func(b *testing.B) {
		dir := b.TempDir()
		for n := 0; b.Loop(); n++ {
			f.git("worktree", "add", "-q", "--detach", filepath.Join(dir, strconv.Itoa(n)))
		}
		b.StopTimer()
		must(b, disk.RemoveAll(dir))
		f.git("worktree", "prune")
	})
}

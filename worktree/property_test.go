package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// TestCaptureEqualsAdd makes random changes and compares the capture with the
// result of `git add -A` on the same files in a clone.
func TestCaptureEqualsAdd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b workspace.Backend) {
		seed := campaign.Seed(t)
		r := rand.New(rand.NewPCG(seed, 0))
		f := fixtureOn(t, b)
		f.unapplied = false
		base := f.scatter(r)
		f.open()
		for range campaign.Rounds(t, 2, 20) {
			w := f.lease(base)
			for range 1 + r.IntN(25) {
				mutate(r, f.at(w))
			}
			want := f.added(w)
			c := f.capture(w)
			if string(c.Tree) != want {
				t.Fatalf("seed %d: tree = %s, want %s:\n%s", seed, c.Tree, want,
					f.git("diff", "--stat", want, string(c.Tree)))
			}
			if _, err := f.release(w, c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// scatter commits a base of random files.
//
// All rules are at the top, which random changes leave alone. A direct add uses
// the present rules, also for a folder that was renamed or removed, and a
// capture uses the base's.
func (f *fixture) scatter(r *rand.Rand) git.Hash {
	f.t.Helper()
	f.write(f.root, ".gitignore", "*.o\n/ignored/\n!/n2/**/x.o\n/n2/**/*.tmp\n",
		".gitattributes", "*.crlf eol=crlf\n*.id ident\n")
	for i := range 60 {
		path := filepath.Join(f.root, randomPath(r))
		if _, err := os.Lstat(path); err != nil && os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			_ = os.WriteFile(path, fmt.Appendf(nil, "base %d\n$Id$\n", i), 0o644) // a folder may be there
		}
	}
	return f.commit()
}

// randomPath picks from few names, so that files meet folders of their name.
func randomPath(r *rand.Rand) string {
	path := ""
	for {
		path += fmt.Sprintf("n%d", r.IntN(5))
		switch r.IntN(7) {
		case 0, 1:
			path += "/"
			continue
		case 2:
			return path + "/x.o"
		case 3:
			return path + ".crlf"
		case 4:
			return path + ".id"
		case 5:
			return path + " \n\xff"
		default:
			return path
		}
	}
}

// mutate makes a change in a tree; it skips an impossible change.
func mutate(r *rand.Rand, dir string) {
	path := filepath.Join(dir, randomPath(r))
	switch r.IntN(8) {
	case 0:
		_ = os.RemoveAll(path)
	case 1:
		_ = os.Chmod(path, 0o755)
	case 2:
		if os.RemoveAll(path) == nil {
			_ = os.Symlink(randomPath(r), path)
		}
	case 3:
		_ = os.Rename(path, filepath.Join(dir, randomPath(r)))
	case 4:
		if at, err := os.Lstat(path); err == nil && at.Mode().IsRegular() {
			_ = os.Remove(path)
			_ = os.Mkdir(path, 0o755)
		}
	default:
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			if at, err := os.Lstat(path); err != nil || at.Mode().IsRegular() {
				_ = os.WriteFile(path, fmt.Appendf(nil, "%d\r\n$Id: x$", r.IntN(1000)), 0o644)
			}
		}
	}
}

// added is the tree that git makes of the files of a workspace in a clone,
// which is where no agent has been. Its rules are those of the base, too:
// random changes write none.
func (f *fixture) added(w *workspace.Workspace) string {
	f.t.Helper()
	clone := filepath.Join(f.t.TempDir(), "clone")
	f.in(f.home, "clone", "-q", "--no-local", f.root, clone)
	cmd := exec.Command("sh", "-c", `
		find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
		cd "$1" && find . -mindepth 1 -maxdepth 1 ! -name .git -exec cp -a {} "$2" \;`, "sh", f.at(w), clone)
	cmd.Dir = clone
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("copy the workspace: %v\n%s", err, out)
	}
	f.in(clone, "add", "-A")
	tree := f.in(clone, "write-tree")
	f.git("fetch", "-q", clone, f.in(clone, "-c", "user.name=x", "-c", "user.email=x",
		"commit-tree", "-m", "x", tree)+":refs/test/"+w.Name)
	f.git("update-ref", "-d", "refs/test/"+w.Name)
	return tree
}

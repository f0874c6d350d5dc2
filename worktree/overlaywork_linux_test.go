package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
	"agentswarm/worktree/survey"
	"agentswarm/worktree/workspace"
)

// errand is a number of random changes, made by a process of its own as an agent
// would make them.
type errand struct {
	Space *workspace.Workspace // nil: in Dir, as it lies
	Dir   string
	Seed  uint64
	Edits int
}

// run runs it. Its files belong to the user who runs the tests.
func (in errand) run(f *fixture) {
	f.t.Helper()
	s := insideSpec{Dir: in.Dir, Seed: in.Seed, Edits: in.Edits}
	if in.Space != nil {
		s = f.specOf(in.Space)
		s.Seed, s.Edits = in.Seed, in.Edits
	}
	if out, err := s.run(f); err != nil {
		f.t.Fatalf("inside: %v: %s", err, out)
	}
}

// overlay leases an overlay workspace of a base.
func (f *fixture) overlay(base git.Hash) *workspace.Workspace {
	f.t.Helper()
	if f.kind != workspace.Overlay {
		f.private(workspace.Overlay)
	}
	return f.lease(base)
}

// act does something in an overlay workspace.
func (f *fixture) act(w *workspace.Workspace, script string) {
	f.t.Helper()
	f.inside(w, script)
}

// scramble makes a change in a tree that matters to git's rules; it skips an
// impossible change.
func scramble(r *rand.Rand, dir string) {
	path := filepath.Join(dir, randomPath(r))
	other := filepath.Join(dir, randomPath(r))
	// A removal below a FIFO would wait for a writer.
	remove := func(path string) error {
		if at, err := os.Stat(filepath.Dir(path)); err != nil || !at.IsDir() {
			return os.ErrNotExist
		}
		return os.RemoveAll(path)
	}
	switch at, err := os.Lstat(path); r.IntN(18) {
	case 0, 1:
		_ = remove(path)
	case 2:
		_ = os.Chmod(path, 0o755)
	case 3:
		if remove(path) == nil {
			_ = os.Symlink(randomPath(r), path)
		}
	case 4:
		// A folder of the base cannot be renamed, so that it is copied there.
		if _, oerr := os.Lstat(other); err == nil && oerr != nil {
			_ = exec.Command("mv", "-T", path, other).Run()
		}
	case 5:
		if err == nil && at.Mode().IsRegular() && os.Remove(path) == nil {
			_ = os.Mkdir(path, 0o755)
			_ = os.WriteFile(filepath.Join(path, "n1"), []byte("in a folder\n"), 0o644)
		}
	case 6:
		if err == nil && at.IsDir() && remove(path) == nil && os.Mkdir(path, 0o755) == nil {
			_ = os.WriteFile(filepath.Join(path, "n0"), []byte("anew\n"), 0o644)
		}
	case 7:
		_ = os.Link(path, other)
	case 8:
		if err == nil && at.Mode().Type() != os.ModeSymlink {
			_ = os.Chmod(path, 0)
		}
	case 9:
		_ = os.WriteFile(filepath.Join(filepath.Dir(path), ".gitignore"), []byte("*\n!n0\n"), 0o644)
	case 10:
		if os.MkdirAll(filepath.Join(path, ".git", "refs"), 0o755) == nil {
			_ = os.WriteFile(filepath.Join(path, ".git", "HEAD"), []byte("ref: refs/heads/x\n"), 0o644)
			_ = remove(filepath.Join(path, "n3"))
			_ = os.WriteFile(filepath.Join(path, "n3"), []byte("of another\n"), 0o644)
		}
	case 11:
		if remove(path) == nil {
			_ = unix.Mkfifo(path, 0o644)
		}
	case 12:
		if err == nil && at.Mode().IsRegular() {
			text, _ := os.ReadFile(path)
			_ = os.WriteFile(path, text, 0o644) // written, and the same
		}
	default:
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil && (err != nil || at.Mode().IsRegular()) {
			_ = os.WriteFile(path, fmt.Appendf(nil, "%d\nas it is\n", r.IntN(1000)), 0o644)
		}
	}
}

// plainly is the tree that `git add -A` makes of the same edits in a plain
// worktree, under the ignore rules of the base.
func (f *fixture) plainly(base git.Hash, in errand) string {
	f.t.Helper()
	dir := filepath.Join(f.t.TempDir(), "plain")
	f.git("worktree", "add", "-q", "--detach", dir, string(base))
	defer f.git("worktree", "remove", "--force", "--force", dir)
	in.Dir = dir
	in.run(f)
	script := exec.Command("bash", "-e", "-c", plainScript)
	script.Dir, script.Env = dir, f.environ()
	out, err := script.CombinedOutput()
	if err != nil {
		f.t.Fatalf("add: %v: %s", err, out)
	}
	return f.in(dir, "write-tree")
}

// plainScript adds all files like a capture: it opens closed files, adds a
// nested repository as plain files, and uses the ignore rules of the base.
const plainScript = `
while find . -type d ! -perm -700 | grep -q .; do find . -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null || true; done
find . -type p -delete
find . -type f ! -perm -400 -exec chmod u+rw {} +
find . -mindepth 2 -name .git -prune -exec rm -rf {} +
aside=$(mktemp -d)
find . -name .gitignore ! -type d -print0 | while IFS= read -r -d '' p; do
	mkdir -p "$aside/$(dirname "$p")"; mv "$p" "$aside/$p"
done
git ls-tree -r -z --name-only HEAD | while IFS= read -r -d '' p; do
	case $p in .gitignore|*/.gitignore)
		if mkdir -p "$(dirname "$p")" 2>/dev/null; then git cat-file blob "HEAD:$p" > "$p"; fi;;
	esac
done
git add -A
git ls-files -z | while IFS= read -r -d '' p; do
	case $p in .gitignore|*/.gitignore) git update-index --force-remove "$p";; esac
done
cd "$aside"
find . -name .gitignore -print0 | while IFS= read -r -d '' p; do
	p=${p#./}
	( cd "$OLDPWD"
	if git cat-file -e "HEAD:$p" 2>/dev/null || ! git check-ignore -q --no-index "./$p"; then
		git update-index --add --cacheinfo "100644,$(git hash-object -w "$aside/$p"),$p"
	fi )
done
rm -rf "$aside"
`

// overlayEqualsAdd makes random changes in an overlay and in a plain worktree.
// It compares the capture with git's result.
func overlayEqualsAdd(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	f := newFixture(t)
	f.write(f.root, ".gitignore", "*.o\n/ignored/\n", "n2/.gitignore", "!x.o\n*.tmp\n")
	if seed%2 == 0 {
		f.write(f.root, ".gitattributes", "*.id ident\n*.crlf text\n")
	}
	for i := range 60 {
		path := filepath.Join(f.root, randomPath(r))
		if _, err := os.Lstat(path); err == nil || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
			continue
		}
		_ = os.WriteFile(path, fmt.Appendf(nil, "base %d\n$Id$\n", i), 0o644)
	}
	base := f.commit()
	f.open()
	for round := range campaign.Rounds(t, 2, 3) {
		in := errand{Seed: seed + uint64(round)<<32, Edits: 1 + r.IntN(30)}
		w := f.overlay(base)
		f.act(w, `git ls-files -z | head -z -n 7 | xargs -0 -r git update-index --assume-unchanged`)
		in.Space = w
		in.run(f)
		f.act(w, `chmod u+rwx . && git config filter.x.clean "touch '$HOME/ran'" && mkdir -p .git/info && echo 'n3 filter=x' > .git/info/attributes
			test -f n1 && test -r n1 && git add -f n1; git -c user.name=x -c user.email=x commit -qm mine --allow-empty`)
		rm(f, marker(f)) // git inside may run it
		want := f.plainly(base, errand{Seed: in.Seed, Edits: in.Edits})
		c := f.capture(w)
		if string(c.Tree) != want {
			t.Fatalf("seed %d, round %d: tree = %s, want %s:\n%s", seed, round, c.Tree, want,
				f.git("diff", "--raw", want, string(c.Tree)))
		}
		if c.Head == "" {
			t.Errorf("seed %d: the agent's commit is not there: %v", seed, c.Notes)
		}
		if now, err := survey.SealOf(*w); err != nil || c.Complete && len(c.Ignored) == 0 && now != c.Seal {
			t.Errorf("seed %d: the seal is %s, %v, want %s", seed, now, err, c.Seal)
		}
	}
}

func TestOverlayEqualsAdd(t *testing.T) {
	t.Parallel()
	for n := range campaign.Rounds(t, 1, 40) {
		seed := campaign.Seed(t) - 1 + uint64(n)
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			overlayEqualsAdd(t, seed)
		})
	}
}

func FuzzOverlayEqualsAdd(f *testing.F) {
	f.Add(uint64(99))
	f.Fuzz(overlayEqualsAdd)
}

package worktree

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentswarm/worktree/disk"
	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// fixture is a repository of a user with a HOME of its own, and the folders
// swarm keeps beside it.
type fixture struct {
	t      testing.TB
	home   string
	root   string // the repository's checkout
	state  string
	repo   *git.Repo
	frozen *git.Frozen
	trees  *Trees
	step   func(string) error // looked up at every step
	leases int

	unapplied bool  // do not try the patches
	maxFile   int64 // as [Config.MaxFile]
	maxPatch  int64 // as [Config.MaxPatch]
	kind      workspace.Backend
	confine   git.Confine
	own       git.Hash                     // the commit without an agent's work: HEAD when this was opened
	here      map[string][]workspace.Mount // the mounts here, by workspace; nil: no workspace is mounted
	small     string                       // a workspace whose changes go on a small disk
}

// newFixture makes a repository at a path with a blank, a colon and a quote.
func newFixture(t testing.TB, args ...string) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{
		t: t, home: filepath.Join(dir, "home"), state: filepath.Join(dir, "state"),
		root: filepath.Join(dir, `a "repo": here`),
	}
	f.mkdir(f.home)
	f.mkdir(f.root)
	t.Cleanup(func() { _ = disk.RemoveAll(dir) })
	first, _ := newRepositories.LoadOrStore(strings.Join(args, " "), sync.OnceValue(func() map[string]string {
		return f.initialized(args)
	}))
	for path, text := range first.(func() map[string]string)() {
		at := filepath.Join(f.root, path)
		if strings.HasSuffix(path, "/.") {
			f.mkdir(at)
		} else {
			must(t, os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644))
		}
	}
	return f
}

// newRepositories holds, by the arguments of `git init`, the files of a new
// repository, which git makes once for the process.
var newRepositories sync.Map

// initialized makes a new repository and returns its files. A path that ends in
// "/." is a folder.
func (f *fixture) initialized(args []string) map[string]string {
	f.t.Helper()
	dir := filepath.Join(f.home, "new")
	f.mkdir(dir)
	f.in(dir, append([]string{"init", "-q", "-b", "main", "--template="}, args...)...)
	f.in(dir, "config", "user.name", "User")
	f.in(dir, "config", "user.email", "user@example.com")
	files := map[string]string{}
	must(f.t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || e.IsDir() {
			files[rel+"/."] = ""
			return err
		}
		text, err := os.ReadFile(path)
		files[rel] = string(text)
		return err
	}), os.RemoveAll(dir))
	return files
}

func (f *fixture) mkdir(dir string) {
	f.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) environ() []string {
	return []string{
		"HOME=" + f.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"GIT_AUTHOR_DATE=2024-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2024-01-02T03:04:05Z",
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
	}
}

// in runs git in a folder as the user, or an agent, would.
func (f *fixture) in(dir string, args ...string) string {
	f.t.Helper()
	out, err := f.try(dir, args...)
	if err != nil {
		f.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (f *fixture) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	// Since 2.47 a commit or a fetch leaves a process behind that tidies up.
	// Its changes would show among the files that must not change.
	cmd.Dir, cmd.Env = dir, append(f.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return strings.TrimSuffix(out.String(), "\n"), err
}

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	return f.in(f.root, args...)
}

// write writes files below a folder: name, content, name, content.
func (f *fixture) write(dir string, files ...string) {
	f.t.Helper()
	// Some are programs, and the kernel runs none that a process which was
	// forked meanwhile holds open for writing.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		f.mkdir(filepath.Dir(path))
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			f.t.Fatal(err)
		}
	}
}

// commit commits files into the user's checkout.
func (f *fixture) commit(files ...string) git.Hash {
	f.t.Helper()
	f.write(f.root, files...)
	f.git("add", "-A")
	f.git("commit", "-q", "--allow-empty", "-m", "work")
	return git.Hash(f.git("rev-parse", "HEAD"))
}

// openAt makes the backend, once the repository is complete. It finds the
// repository from dir, the user's working directory.
func (f *fixture) openAt(dir string) {
	f.t.Helper()
	ctx := f.t.Context()
	g := git.New(f.environ())
	var err error
	if f.repo, err = g.Discover(ctx, dir); err != nil {
		f.t.Fatal(err)
	}
	if f.frozen, err = f.repo.Freeze(ctx, filepath.Join(f.state, "frozen")); err != nil {
		f.t.Fatal(err)
	}
	f.own, _ = f.repo.Commit(ctx, "HEAD") // a repository may have none
	f.trees = f.backend()
}

func (f *fixture) open() { f.t.Helper(); f.openAt(f.root) }

// backend opens the backend as another process would.
func (f *fixture) backend() *Trees {
	f.t.Helper()
	trees, err := New(Config{
		Repo: f.repo, Frozen: f.frozen, Dir: filepath.Join(f.state, "trees", "k3x9q2"),
		Trash: filepath.Join(f.state, "trash"), LockFile: filepath.Join(f.state, "worktrees.lock"),
		Bases: filepath.Join(f.state, "bases"), At: f.repo.TopLevel, Confine: f.confine, Own: f.own, MaxFile: f.maxFile, MaxPatch: f.maxPatch,
		Step: func(name string) error {
			if f.step == nil {
				return nil
			}
			return f.step(name)
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = trees.Close() })
	return trees
}

// lease leases a workspace of base.
func (f *fixture) lease(base git.Hash) *workspace.Workspace {
	f.t.Helper()
	f.leases++
	name := fmt.Sprintf("a%d.1", f.leases)
	f.stand(name)
	w, err := f.trees.Lease(f.t.Context(), f.leaseRequest(name, base))
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

func (f *fixture) leaseRequest(name string, base git.Hash) LeaseRequest {
	return LeaseRequest{Name: name, Base: base, Saved: filepath.Join(f.state, "a", name, "index"), Backend: f.kind}
}

func (f *fixture) captureRequest(w *workspace.Workspace) CaptureRequest {
	dir := filepath.Join(f.state, "a", w.Name)
	when := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	return CaptureRequest{
		Workspace: *w, Objects: filepath.Join(dir, "objects"),
		Ref:       "refs/swarm/k3x9q2/a/" + w.Name,
		HeadRef:   "refs/swarm/k3x9q2/a/" + w.Name + ".head",
		PatchFile: filepath.Join(dir, "patch"), Modules: filepath.Join(f.state, "modules"),
		Message:   "work of " + w.Name + "\n",
		Author:    git.Person{Name: "agent", Email: "agent@localhost", When: when},
		Committer: git.Swarm(when),
	}
}

// capture captures a workspace and checks the properties of every capture.
func (f *fixture) capture(w *workspace.Workspace) *Capture {
	f.t.Helper()
	f.left(w)
	c, err := f.trees.Capture(f.t.Context(), f.captureRequest(w))
	if err != nil {
		f.t.Fatal(err)
	}
	if ran(f) {
		f.t.Error("what the agent configured was run by a capture")
	}
	f.check(w, c)
	return c
}

// check proves that the ref is whole and that the patch file says the same.
func (f *fixture) check(w *workspace.Workspace, c *Capture) {
	f.t.Helper()
	if _, err := os.Lstat(f.captureRequest(w).Objects); err == nil {
		f.t.Errorf("the quarantine of %s is still there", w.Name)
	}
	if !c.Changed {
		if c.Commit != "" || c.Ref != "" || c.Patch != "" {
			f.t.Errorf("capture without a change has %q %q %q", c.Commit, c.Ref, c.Patch)
		}
		return
	}
	want := fmt.Sprint(c.Commit, "\n", c.Tree, "\n", w.Base)
	if got := f.git("--git-dir="+f.repo.RefsDir(), "rev-parse", c.Ref, c.Ref+"^{tree}", c.Ref+"^"); got != want {
		f.t.Errorf("commit, tree and parent of %s are\n%s, want\n%s", c.Ref, got, want)
	}
	f.git("fsck", "--connectivity-only", string(c.Commit))
	if !f.unapplied {
		f.apply(w, c)
	}
}

// apply applies the patch file in a checkout of the base and compares trees.
func (f *fixture) apply(w *workspace.Workspace, c *Capture) {
	f.t.Helper()
	dir := filepath.Join(f.t.TempDir(), "applied")
	f.git("worktree", "add", "-q", "--detach", dir, string(w.Base))
	defer f.git("worktree", "remove", "--force", dir)
	f.in(dir, "apply", "--index", "--whitespace=nowarn", c.Patch)
	if got := f.in(dir, "write-tree"); got != string(c.Tree) {
		f.t.Errorf("the patch gives tree %s, want %s\n%s", got, c.Tree,
			f.git("diff", "--stat", got, string(c.Tree)))
	}
}

// blobs are the contents of a tree's files: their ids by "mode path".
func (f *fixture) blobs(tree git.Hash) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for rec := range strings.SplitSeq(f.git("ls-tree", "-r", "-z", string(tree)), "\x00") {
		if head, path, ok := strings.Cut(rec, "\t"); ok {
			words := strings.Fields(head)
			all[words[0]+" "+path] = words[2]
		}
	}
	return all
}

// files lists the tree of a capture: "mode path", and the content where it
// is asked for by show.
func (f *fixture) files(tree git.Hash) []string {
	f.t.Helper()
	out := strings.TrimSuffix(f.git("ls-tree", "-r", "-z", string(tree)), "\x00")
	var files []string
	if out == "" {
		return nil
	}
	for rec := range strings.SplitSeq(out, "\x00") {
		head, path, _ := strings.Cut(rec, "\t")
		files = append(files, head[:6]+" "+path)
	}
	return files
}

// show is the content of a file of a tree.
func (f *fixture) show(tree git.Hash, path string) string {
	f.t.Helper()
	cmd := exec.Command("git", "cat-file", "blob", string(tree)+":"+path)
	cmd.Dir, cmd.Env = f.root, f.environ()
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("show %s: %v", path, err)
	}
	return string(out)
}

// kinds are the kinds of a capture's notes, in order.
func kinds(c *Capture) string {
	var all []string
	for _, n := range c.Notes {
		all = append(all, string(n.Kind)+":"+n.Path)
	}
	return strings.Join(all, " ")
}

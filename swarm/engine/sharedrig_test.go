package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentswarm/merge"
	"agentswarm/swarm/store"
	"agentswarm/swarm/task"
	"agentswarm/worktree"
	"agentswarm/worktree/git"
)

// sharedFixture is a rig whose workspaces are real ones of a real repository.
type sharedFixture struct {
	*rig
	root   string // the user's checkout
	repo   *git.Repo
	frozen *git.Frozen
	trees  *faulty
	base   string
}

// faulty are real workspaces whose captures can be made to fail.
type faulty struct {
	*worktree.Trees
	mu  sync.Mutex // guards err
	err error      // of captures
}

func (f *faulty) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faulty) Capture(ctx context.Context, r worktree.CaptureRequest) (*worktree.Capture, error) {
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return f.Trees.Capture(ctx, r)
}

// newSharedFixture makes a repository with a file of ten lines.
func newSharedFixture(t *testing.T) *sharedFixture {
	t.Helper()
	g := &sharedFixture{rig: newRig(t), root: t.TempDir()}
	t.Cleanup(func() { _ = worktree.RemoveAll(g.spaces.root) })
	g.git("init", "-q", "-b", "main", "--template=")
	g.git("config", "user.name", "User")
	g.git("config", "user.email", "user@example.com")
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	if err := os.WriteFile(filepath.Join(g.root, "lines"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	g.git("add", "-A")
	g.git("commit", "-q", "-m", "base")
	g.base = g.git("rev-parse", "HEAD")
	var err error
	if g.repo, err = git.New(g.environ()).Discover(t.Context(), g.root); err != nil {
		t.Fatal(err)
	}
	state := g.deps.Run.State()
	if g.frozen, err = g.repo.Freeze(t.Context(), g.deps.Run.Frozen()); err != nil {
		t.Fatal(err)
	}
	trees, err := worktree.New(worktree.Config{
		Repo: g.repo, Frozen: g.frozen, Dir: state.Trees(g.deps.Run.ID), Trash: state.Trash(),
		LockFile: filepath.Join(g.dir, "worktrees.lock"),
	})
	if err != nil {
		t.Fatal(err)
	}
	g.trees = &faulty{Trees: trees}
	g.deps.Workspaces, g.deps.Root = g.trees, g.root
	return g
}

func (g *sharedFixture) environ() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

// git runs git in the user's checkout.
func (g *sharedFixture) git(args ...string) string {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	// Since 2.47 a commit leaves a process behind that tidies up, with a lock in the
	// repository until it is done.
	cmd.Dir, cmd.Env = g.root, append(g.environ(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// shared is a shared call of a text of sh.
func (g *sharedFixture) shared(text string) *task.Call {
	return &task.Call{
		Input: &task.TypedAgentInput{}, Command: []string{"sh", "-c", text}, Script: true, Shared: true,
		Base: g.base, BaseTree: "tree",
	}
}

// open opens an engine on the current records, with calls.
func (g *sharedFixture) open(calls ...*task.Call) *Engine {
	g.t.Helper()
	e := Open(g.t.Context(), g.deps, g.config, g.view())
	if _, err := e.StartAll(calls); err != nil {
		g.t.Fatal(err)
	}
	return e
}

func (g *sharedFixture) close(e *Engine) {
	g.t.Helper()
	if err := e.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// left holds that no workspace is there any more, nothing went into the trash,
// and the user's checkout is as it was.
func (g *sharedFixture) left() {
	g.t.Helper()
	state := g.deps.Run.State()
	for _, dir := range []string{state.Trees(g.deps.Run.ID), state.Trash()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			g.t.Fatal(err)
		}
		for _, e := range entries {
			g.t.Errorf("%s is left in %s", e.Name(), filepath.Base(dir))
		}
	}
	g.untouched()
	v := g.view()
	if v.Shared != nil {
		g.t.Errorf("the journal says that %s is there", v.Shared.Dir)
	}
	for _, a := range v.Agents {
		if len(a.Leases) > 0 {
			g.t.Errorf("the journal says that %s has a workspace", a.ID)
		}
	}
}

// untouched holds that the user's checkout is as it was.
func (g *sharedFixture) untouched() {
	g.t.Helper()
	is(g.t, "the checkout", g.git("status", "--porcelain"), "")
	is(g.t, "HEAD", g.git("rev-parse", "HEAD"), g.base)
	is(g.t, "registrations", strings.Count(g.git("worktree", "list", "--porcelain"), "worktree "), 1)
}

// merge merges the patches of agents in the order of their captures.
func (g *sharedFixture) merge(ids ...task.ID) *merge.Outcome {
	g.t.Helper()
	v := g.view()
	var agents []*store.Agent
	for _, id := range ids {
		if v.Agent(id).Result().Done().Patch != nil {
			agents = append(agents, v.Agent(id))
		}
	}
	agents = store.InPartOrder(agents, func(a *store.Agent) int64 { return a.PartBy })
	q, err := g.frozen.Quarantine(filepath.Join(g.t.TempDir(), "objects"))
	if err != nil {
		g.t.Fatal(err)
	}
	req := merge.Request{Onto: git.Hash(g.base), Committer: git.Swarm(time.Unix(1, 0))}
	for _, a := range agents {
		p := a.Result().Done().Patch
		req.Patches = append(req.Patches, merge.Patch{
			ID: string(a.ID), Base: git.Hash(p.Base), Commit: git.Hash(p.Commit), Author: req.Committer,
		})
	}
	out, err := merge.Merge(g.t.Context(), q, req)
	if err != nil {
		g.t.Fatal(err)
	}
	return out
}

// whole holds that all patches together give the shared workspace.
func (g *sharedFixture) whole() {
	g.t.Helper()
	v := g.view()
	var all []task.ID
	for _, a := range v.Agents {
		all = append(all, a.ID)
	}
	out := g.merge(all...)
	if len(out.Conflicts) > 0 {
		g.t.Errorf("conflicts: %+v", out.Conflicts)
	}
	is(g.t, "merged tree", out.Tree, g.git("rev-parse", v.Tip+"^{tree}"))
}

// patch returns the patch of an agent's result.
func (g *sharedFixture) patch(id task.ID) *task.Patch {
	g.t.Helper()
	return g.view().Agent(id).Result().Done().Patch
}

// paths are the files of its patch.
func (g *sharedFixture) paths(id task.ID) string {
	g.t.Helper()
	p := g.patch(id)
	if p == nil {
		return "none"
	}
	text, err := os.ReadFile(p.File)
	if err != nil {
		g.t.Error(err)
	}
	for _, path := range p.Paths {
		if !strings.Contains(string(text), path) {
			g.t.Errorf("the patch file of %s does not name %s", id, path)
		}
	}
	is(g.t, "diff of "+string(id), strings.Join(p.Paths, "\n"), g.git("diff", "--name-only", p.Base, p.Commit))
	return strings.Join(p.Paths, " ")
}

// files are those of the shared workspace as it was captured last.
func (g *sharedFixture) files() string {
	g.t.Helper()
	return strings.Join(strings.Fields(g.git("ls-tree", "-r", "--name-only", g.view().Tip)), " ")
}

var errFull = errors.New("no space")

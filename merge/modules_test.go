package merge

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentswarm/internal/testing/campaign"
	"agentswarm/worktree/git"
	"agentswarm/worktree/git/checkout"
)

// moduleGround is a repository with a submodule, and a commit that moves it to a
// commit which only a store has.
type moduleGround struct {
	*fixture
	sub      string // the checkout of the submodule
	stores   string
	base, to git.Hash // of the parent
	old, new git.Hash // of the submodule
}

func newModuleGround(t *testing.T) *moduleGround {
	t.Helper()
	f, lib := newFixture(t), newFixture(t)
	lib.commit(map[string]string{"s": "1\n", "t": "t\n"})
	f.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "sub")
	g := &moduleGround{fixture: f, sub: filepath.Join(f.dir, "sub"), stores: filepath.Join(f.home, "stores")}
	g.base = f.commit(map[string]string{"a": "1\n"})
	g.old = git.Hash(f.gitIn(g.sub, nil, "rev-parse", "HEAD"))
	g.new = lib.commit(map[string]string{"s": "2\n", "n": "n\n"})
	store, err := f.repo.MakeModuleStore(g.stores, "sub", filepath.Join(f.dir, ".git/modules/sub/objects"))
	f.must(err)
	f.gitIn(store.GitDir, nil, "fetch", "-q", lib.dir, "main:refs/swarm/x")
	g.to = g.recording(g.new)
	return g
}

// recording is a commit on the base that records a commit of the submodule.
func (g *moduleGround) recording(commit git.Hash) git.Hash {
	g.Helper()
	return g.recordingOn(g.old, commit)
}

// recordingOn is recording where the base records another commit than the first.
func (g *moduleGround) recordingOn(old, commit git.Hash) git.Hash {
	g.Helper()
	g.git("update-index", "--cacheinfo", "160000,"+string(commit)+",sub")
	tree := g.git("write-tree")
	g.git("update-index", "--cacheinfo", "160000,"+string(old)+",sub")
	return git.Hash(g.git("commit-tree", "-p", string(g.base), "-m", "sub", tree))
}

func (g *moduleGround) request(step func(string) error) LandRequest {
	r := g.landing(g.base, g.to)
	r.Modules = Modules{Onto: g.base, Stores: g.stores, Refs: "refs/swarm/k3x9q2/landed/"}
	r.Record.Step = step
	return r
}

// look is a [Check] of the landing.
func (g *moduleGround) look() error {
	g.Helper()
	r := g.request(nil)
	return Check(g.Context(), CheckRequest{
		Quarantine: r.Quarantine, Ref: r.Ref, Old: r.Old, New: r.New, Scratch: g.TempDir(), Modules: r.Modules,
	})
}

// undo takes the landing back.
func (g *moduleGround) undo(step func(string) error) error {
	record := g.record("2")
	record.Step = step
	_, err := Undo(g.Context(), UndoRequest{
		Repo: g.repo, Ref: "refs/heads/main", Old: g.base, New: g.to, Record: record,
		Journal: func(Intent) error { return nil },
	})
	return err
}

// whole fails where parent and submodule are not both old or both new, and
// reports whether they are new.
func (g *moduleGround) whole() bool {
	g.Helper()
	head, sub := g.head(), git.Hash(g.gitIn(g.sub, nil, "rev-parse", "HEAD"))
	text, err := os.ReadFile(filepath.Join(g.sub, "s"))
	g.must(err)
	moved := head == g.to
	want, content := g.old, "1\n"
	if moved {
		want, content = g.new, "2\n"
	}
	if sub != want || string(text) != content {
		g.Errorf("the parent is at %s, the submodule at %s with %q", head.Short(), sub.Short(), text)
	}
	if got := g.git("status", "--porcelain"); got != "" {
		g.Errorf("git status: %s", got)
	}
	return moved
}

// TestLandModuleFaults: whichever step fails, parent and submodule are both old or
// both new once the transaction is over. The same holds for an undo. The gate takes
// each fifth step, and other steps with a detached HEAD.
func TestLandModuleFaults(t *testing.T) {
	t.Parallel()
	g := newModuleGround(t)
	failed := errors.New("no space")
	for _, detached := range []bool{false, true} {
		if detached {
			g.gitIn(g.sub, nil, "checkout", "-q", "--detach")
		}
		first := 1
		if detached {
			first += campaign.Rounds(t, 2, 0)
		}
		for n, again := first, true; again; n += campaign.Rounds(t, 5, 1) {
			for _, undo := range []bool{false, true} {
				if g.whole() != undo {
					continue // the landing failed before anything moved
				}
				at := 0
				step := func(string) error {
					if at++; at == n {
						return failed
					}
					return nil
				}
				var err error
				if undo {
					err = g.undo(step)
				} else {
					_, err = Land(t.Context(), g.request(step))
				}
				_, rerr := checkout.Recover(t.Context(), checkout.RecoverRequest{Records: g.record("1").Records, Repo: g.repo})
				g.must(rerr)
				g.must(errors.Join(checkout.Forget(g.record("1").Records, "1"), checkout.Forget(g.record("1").Records, "2")))
				if g.whole() != (undo != (err == nil)) && err == nil {
					t.Errorf("step %d, undo %v: it succeeded and nothing moved", n, undo)
				}
				again = at >= n
			}
			if g.whole() {
				g.must(g.undo(nil))
				g.must(checkout.Forget(g.record("2").Records, "2"))
			}
		}
	}
	if got := g.gitIn(g.sub, nil, "for-each-ref", "--format=%(objectname)", "refs/swarm"); got != string(g.new) {
		t.Errorf("refs of the submodule hold %q, want %s", got, g.new)
	}
}

// TestLandModuleRefuses: nothing moves where the submodule is in the way.
func TestLandModuleRefuses(t *testing.T) {
	t.Parallel()
	g := newModuleGround(t)
	refuse := func(name string, wanted any) {
		t.Helper()
		early := g.look()
		_, err := Land(t.Context(), g.request(nil))
		if err == nil || !errors.As(err, wanted) {
			t.Errorf("%s: %v, want %T", name, err, wanted)
		} else if early == nil || early.Error() != err.Error() {
			t.Errorf("%s: the look says %v, the landing %v", name, early, err)
		}
	}
	g.must(g.look())
	g.writeIn(g.sub, map[string]string{"s": "mine\n"})
	refuse("a changed file", new(*git.DirtyError))
	g.gitIn(g.sub, nil, "checkout", "-q", "s")
	g.writeIn(g.sub, map[string]string{"n": "mine\n"})
	refuse("a file in the way", new(*git.DirtyError))
	g.must(os.Remove(filepath.Join(g.sub, "n")))
	bisect := filepath.Join(g.dir, ".git/modules/sub/BISECT_LOG")
	g.must(os.WriteFile(bisect, nil, 0o600))
	refuse("a bisection", new(*BusyError))
	g.must(os.Remove(bisect))
	g.gitIn(g.sub, nil, "-c", "user.name=u", "-c", "user.email=u", "commit", "-q", "--allow-empty", "-m", "mine")
	mine := git.Hash(g.gitIn(g.sub, nil, "rev-parse", "HEAD"))
	base, to := g.base, g.to
	g.git("-c", "user.name=u", "-c", "user.email=u", "commit", "-q", "-am", "mine")
	g.base = g.head()
	g.to = g.recordingOn(mine, g.new)
	refuse("a branch of another line", new(*ModuleBranchError))
	g.to = g.recordingOn(mine, g.old)
	refuse("a branch that would move backward", new(*ModuleBranchError))
	g.git("reset", "-q", "--hard", string(base))
	g.gitIn(g.sub, nil, "reset", "-q", "--hard", string(g.old))
	g.base, g.to = base, g.recording("1111111111111111111111111111111111111111")
	refuse("a commit that nobody has", new(*ModuleError))
	g.to = to
	if g.whole() {
		t.Error("it moved")
	}
	// Earlier versions let such a patch land. That landing can be undone.
	g.to = g.recording("1111111111111111111111111111111111111111")
	r := g.request(nil)
	r.Modules = Modules{}
	_, err := Land(t.Context(), r)
	g.must(err)
	g.must(checkout.Forget(r.Records, "1"))
	g.must(g.undo(nil))
	if g.whole() {
		t.Error("it was not undone")
	}
}

// TestLandModuleLocked: a lock that a killed git left on a ref of ours in the user's
// submodule does not stop a landing.
func TestLandModuleLocked(t *testing.T) {
	t.Parallel()
	g := newModuleGround(t)
	lock := filepath.Join(g.dir, ".git/modules/sub", g.request(nil).Modules.Refs, g.new.Short()+".lock")
	g.must(os.MkdirAll(filepath.Dir(lock), 0o700))
	g.must(os.WriteFile(lock, nil, 0o600))
	_, err := Land(t.Context(), g.request(nil))
	g.must(err)
	if !g.whole() {
		t.Error("nothing moved")
	}
}

package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/submodule"
	"agentswarm/worktree/workspace"
)

// storeSource finds submodules in the stores of a fixture.
type storeSource struct{ f *fixture }

func (s storeSource) Unfetchable(ctx context.Context, commit git.Hash, links []git.Change) ([]ModuleFill, error) {
	steps, err := submodule.Unpublished(ctx, submodule.UnpublishedRequest{
		Repo: s.f.repo, Stores: filepath.Join(s.f.state, "modules"), Commit: commit, Links: links,
	})
	var fills []ModuleFill
	for _, step := range steps {
		fills = append(fills, ModuleFill{Path: step.Path, From: step.Reader(), Commit: step.To})
	}
	return fills, err
}

// commitIn commits all changes in a folder as a user who pushes no commit.
func (f *fixture) commitIn(dir string, files ...string) git.Hash {
	f.t.Helper()
	f.write(dir, files...)
	f.in(dir, "add", "-A")
	f.in(dir, "-c", "user.name=u", "-c", "user.email=u", "commit", "-qm", "only here")
	return git.Hash(f.in(dir, "rev-parse", "HEAD"))
}

// TestLeaseFillsModules: a workspace has the submodules that cannot be fetched,
// those of its base and those that a restore puts back, and each is captured again.
func TestLeaseFillsModules(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		nested(f)
		f.write(f.root, "a", "a\n")
		own := filepath.Join(f.root, "sub")
		f.in(own, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
		f.commitIn(filepath.Join(own, "in"), "s", "inner of the user\n")
		f.commitIn(own, "s", "of the user\n")
		base := f.commit()
		f.open()
		f.trees.Modules = storeSource{f}

		whole := func(w *workspace.Workspace, path, text string) {
			t.Helper()
			got, err := os.ReadFile(filepath.Join(f.at(w), path))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			want(t, path, string(got), text)
			f.in(f.at(w), "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive")
		}
		w := f.lease(base)
		whole(w, "sub/in/s", "inner of the user\n")
		whole(w, "sub/s", "of the user\n")
		want(t, "status", f.in(f.at(w), "status", "--porcelain"), "")
		if c := f.capture(w); c.Changed || len(c.Notes) > 0 {
			t.Errorf("a workspace that was left alone has %v, %v", c.Files, c.Notes)
		}

		w = f.lease(base)
		f.commitIn(filepath.Join(f.at(w), "sub"), "n", "of the agent\n")
		f.write(filepath.Join(f.at(w), "sub/in"), "loose", "loose\n")
		first := f.capture(w)
		const both = "sub: M in A n, sub/in: A loose"
		want(t, "submodules", f.modules(first), both)

		again := f.restore(base, first.Commit)
		whole(again, "sub/in/loose", "loose\n")
		whole(again, "sub/n", "of the agent\n")
		second := f.capture(again)
		want(t, "submodules of an attempt that left them alone", f.modules(second), both)
		want(t, "its tree", string(second.Tree), string(first.Tree))

		later := f.lease(first.Commit)
		whole(later, "sub/in/loose", "loose\n")
		f.write(filepath.Join(f.at(later), "sub"), "m", "of the next\n")
		want(t, "submodules of a dependant", f.modules(f.capture(later)), "sub: A m")
	})
}

// TestRestoreRemovesModules: a restore takes away the submodule that a lease filled
// and the earlier attempt removed.
func TestRestoreRemovesModules(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		nested(f)
		f.commitIn(filepath.Join(f.root, "sub"), "s", "of the user\n")
		base := f.commit("a", "a\n")
		f.open()
		f.trees.Modules = storeSource{f}
		w := f.lease(base)
		rm(f, filepath.Join(f.at(w), "sub"))
		first := f.capture(w)
		again := f.restore(base, first.Commit)
		if _, err := os.Lstat(filepath.Join(f.at(again), "sub")); err == nil {
			t.Error("the submodule is back")
		}
		want(t, "the tree", string(f.capture(again).Tree), string(first.Tree))
	})
}

// TestLeaseWithoutWholeModule: a submodule that the user has in part stays empty,
// with those below it, and the workspace is made.
func TestLeaseWithoutWholeModule(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nested(f)
	base := f.commit("a", "a\n")
	f.open()
	f.trees.Modules = brokenSource{f}
	w := f.lease(base)
	entries, err := os.ReadDir(filepath.Join(f.at(w), "sub"))
	if err != nil || len(entries) > 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// brokenSource names a commit that its repository does not have.
type brokenSource struct{ f *fixture }

func (s brokenSource) Unfetchable(context.Context, git.Hash, []git.Change) ([]ModuleFill, error) {
	store, err := s.f.repo.MakeModuleStore(filepath.Join(s.f.state, "modules"), "sub", "")
	gone := git.Hash("1111111111111111111111111111111111111111")
	return []ModuleFill{{Path: "sub", From: store, Commit: gone, Lax: true}, {Path: "sub/in", From: store, Commit: gone}}, err
}

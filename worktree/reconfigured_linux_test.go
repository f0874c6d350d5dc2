package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/git"
	"agentswarm/worktree/workspace"
)

// reconfigurings are scripts that run in a workspace. The value tells whether
// they change its git configuration.
func reconfigurings() map[string]bool {
	const commit = "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x; echo 2 > a; git commit -qam mine; git branch x"
	return map[string]bool{
		":": false, commit: false, "git gc -q --prune=now": false, "git config --get-all remote.origin.url || :": false,
		"git config remote.origin.url elsewhere": true,
		"echo >> .git/config":                    true,
		"rm .git/config":                         true,
		"echo > .git/config.worktree":            true,
		"cp .git/config x; git config a.b c; cp x .git/config; ln -sf x .git/config": true,
		"cp .git/config x; rm .git/config; mkfifo .git/config":                       true,
		"cp -r .git x; echo \"$PWD/x\" > .git/commondir":                             true,
	}
}

// TestReconfigured: changes of an agent to its git configuration are found, and
// there are no false reports.
func TestReconfigured(t *testing.T) {
	t.Parallel()
	for script, want := range reconfigurings() {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			bases := []git.Hash{f.commit("a", "1\n"), f.commit("b", "2\n")}
			f.open()
			namespaces(t, f)
			f.private(workspace.Overlay)
			for i, name := range []string{"shared git dir", "whole git dir"} {
				w := f.lease(bases[i])
				if (w.Shell == "") != (i == 1) {
					t.Fatalf("%s: its shell is %q", name, w.Shell)
				}
				f.inside(w, script)
				if got := f.trees.Reconfigured(*w); got != want {
					t.Errorf("%s: Reconfigured = %t, want %t", name, got, want)
				}
			}
		})
	}
}

// TestReconfiguredElsewhere puts another git dir in the place of its own.
func TestReconfiguredElsewhere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "1\n")
	f.open()
	namespaces(t, f)
	f.private(workspace.Overlay)
	for script, want := range map[string]bool{
		"mv .git x; echo 'gitdir: x' > .git": true, "cp -r .git x; rm -rf .git; mv x .git": true, "rm -rf .git": true, "mv .git x; ln -s x .git": true,
	} {
		w := f.lease(base)
		f.inside(w, script)
		if got := f.trees.Reconfigured(*w); got != want {
			t.Errorf("%s: Reconfigured = %t, want %t", script, got, want)
		}
	}
	if f.trees.Reconfigured(workspace.Workspace{Dir: f.root, Admin: f.root}) != true {
		t.Error("a linked worktree is said to have a configuration of its own")
	}
}

// TestReconfiguredUnmounted has workspaces that are worked in where they lie.
func TestReconfiguredUnmounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	base := f.commit("a", "1\n")
	f.open()
	f.private(workspace.Copied)
	f.trees.At = ""
	for name, tt := range map[string]struct {
		do   func(*workspace.Workspace) error
		want bool
	}{
		"nothing": {func(*workspace.Workspace) error { return nil }, false},
		"the configuration": {func(w *workspace.Workspace) error {
			return os.WriteFile(filepath.Join(w.Admin, "config"), []byte("[a]\n\tb = c\n"), 0o600)
		}, true},
		"the .git file": {func(w *workspace.Workspace) error {
			return os.WriteFile(filepath.Join(w.Files(), ".git"), []byte("gitdir: /elsewhere\n"), 0o600)
		}, true},
		"no .git file": {func(w *workspace.Workspace) error { return os.Remove(filepath.Join(w.Files(), ".git")) }, true},
	} {
		f.leases++
		r := f.leaseRequest("a"+string(rune('0'+f.leases))+".1", base)
		f.stand(r.Name)
		w, err := f.trees.Lease(t.Context(), r)
		must(t, err, tt.do(w))
		if got := f.trees.Reconfigured(*w); got != tt.want {
			t.Errorf("%s: Reconfigured = %t, want %t", name, got, tt.want)
		}
	}
}

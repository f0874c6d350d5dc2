package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"agentswarm/worktree/workspace"
)

func TestMark(t *testing.T) {
	t.Parallel()
	eachOf(t, inGate(t, workspace.Overlay, workspace.Linked), func(t *testing.T, b workspace.Backend) {
		f := fixtureOn(t, b)
		base := f.commit("a.txt", "a\n", "dir/b.txt", "b\n")
		f.open()
		w := f.lease(base)
		mark := func() string {
			t.Helper()
			m, err := f.trees.Mark(t.Context(), *w)
			must(t, err)
			return m
		}
		last := mark()
		for _, step := range []struct {
			name string
			do   func()
			same bool
		}{
			{"nothing", func() {}, true},
			{"a look", func() { f.in(f.at(w), "status"); f.in(f.at(w), "add", "-A") }, true},
			{"a file", func() { f.write(f.at(w), "new", "n\n") }, false},
			{"another text", func() { f.write(f.at(w), "a.txt", "longer\n") }, false},
			{"a file less", func() { must(t, os.Remove(filepath.Join(f.at(w), "new"))) }, false},
			{"another mode", func() { must(t, os.Chmod(filepath.Join(f.at(w), "dir/b.txt"), 0o755)) }, false},
			{"a file less of the base", func() { must(t, os.Remove(filepath.Join(f.at(w), "a.txt"))) }, false},
			{"a folder less", func() { must(t, os.RemoveAll(filepath.Join(f.at(w), "dir"))) }, false},
			{"a commit", func() { f.in(f.at(w), "commit", "-q", "--allow-empty", "-m", "x") }, false},
			{"housekeeping", func() { f.in(f.at(w), "gc", "-q") }, true},
			{"another way to the same commit", func() { f.in(f.at(w), "switch", "-q", "--detach") }, true},
		} {
			step.do()
			now := mark()
			if (now == last) != step.same {
				t.Errorf("after %s: %q, before it was %q", step.name, now, last)
			}
			last = now
		}
		strange := *w
		strange.Dir = t.TempDir()
		if _, err := f.trees.Mark(t.Context(), strange); err == nil {
			t.Error("a workspace elsewhere is looked at")
		}
	})
}

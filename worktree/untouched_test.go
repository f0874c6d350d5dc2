package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMark(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
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
		{"a look", func() { f.in(w.Dir, "status"); f.in(w.Dir, "add", "-A") }, true},
		{"a file", func() { f.write(w.Dir, "new", "n\n") }, false},
		{"another text", func() { f.write(w.Dir, "a.txt", "longer\n") }, false},
		{"a file less", func() { must(t, os.Remove(filepath.Join(w.Dir, "new"))) }, false},
		{"another mode", func() { must(t, os.Chmod(filepath.Join(w.Dir, "dir/b.txt"), 0o755)) }, false},
		{"a commit", func() { f.in(w.Dir, "commit", "-q", "--allow-empty", "-m", "x") }, false},
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
}

package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentswarm/swarm/store"
	"agentswarm/worktree/git"
)

// TestPathsOf: a link counts by its own place and by that of its target, and a file
// elsewhere has no path.
func TestPathsOf(t *testing.T) {
	t.Parallel()
	top, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "x.js")
	for _, file := range []string{filepath.Join(top, "a/x.js"), filepath.Join(top, "sub/.git"), filepath.Join(top, "sub/b/x.js"), elsewhere} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"in.js": filepath.Join(top, "a/x.js"), "out.js": elsewhere} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := &Project{Repo: &git.Repo{TopLevel: top}}
	for file, want := range map[string]struct {
		paths  []string
		nested bool
	}{
		filepath.Join(top, "a/x.js"):     {[]string{"a/x.js", "a/x.js"}, false},
		filepath.Join(top, "in.js"):      {[]string{"in.js", "a/x.js"}, false},
		filepath.Join(top, "out.js"):     {[]string{"out.js"}, false},
		filepath.Join(top, "sub/b/x.js"): {[]string{"sub/b/x.js", "sub/b/x.js"}, true},
		elsewhere:                        {nil, false},
	} {
		got, err := p.PathsOf(file)
		if err != nil || !slices.Equal(got, want.paths) {
			t.Errorf("PathsOf(%s) = %q, %v, want %q", file, got, err, want.paths)
		}
		if nested := p.InNested(file); nested != want.nested {
			t.Errorf("InNested(%s) = %t, want %t", file, nested, want.nested)
		}
	}
}

// TestCheckSpace refuses a state folder that cannot be made, and a run that is too large.
func TestCheckSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir      string
		size     int64
		unusable bool
		refused  bool
	}{
		{filepath.Join(dir, "new/state"), 0, false, false},
		{filepath.Join(dir, "file"), 0, true, true},
		{filepath.Join(dir, "new/state"), 1 << 60, false, true},
	} {
		p := &Project{State: &store.State{Dir: tt.dir}, Getenv: func(string) string { return "" }}
		err := p.CheckSpace(tt.size)
		_, unusable := errors.AsType[*StateError](err)
		if (err != nil) != tt.refused || unusable != tt.unusable {
			t.Errorf("CheckSpace(%d) in %s = %v", tt.size, tt.dir, err)
		}
	}
}

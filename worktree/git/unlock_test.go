package git

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUnlockRefs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &Repo{CommonDir: dir}
	files := map[string]bool{ // whether they stay
		"refs/swarm/abcdef/a/a1/1":      true,
		"refs/swarm/abcdef/a/a1/1.lock": false,
		"refs/swarm/abcdef/base.lock":   false,
		"refs/swarm/ghijkl/base.lock":   true,
		"refs/heads/main.lock":          true,
	}
	for name := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, prefix := range []string{"refs/swarm/abcdef/", "refs/swarm/nosuch/"} {
		if err := r.UnlockRefs(prefix); err != nil {
			t.Errorf("UnlockRefs(%s) = %v", prefix, err)
		}
	}
	for _, prefix := range []string{"refs/heads/", "refs/swarm/../heads/../../..", ""} {
		if err := r.UnlockRefs(prefix); err == nil {
			t.Errorf("UnlockRefs(%s) took it", prefix)
		}
	}
	for name, stays := range files {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it there: %v", name, err, stays)
		}
	}
}

package git

import (
	"os"
	"path/filepath"
	"testing"
)

// newPackIn begins a pack in a quarantine of a new repository.
func newPackIn(t *testing.T) (*Quarantine, *Pack) {
	t.Helper()
	g := newFixture(t)
	r, err := New(g.environ()).Discover(t.Context(), g.root)
	g.ok(err)
	q, err := r.Quarantine(filepath.Join(g.home, "q"))
	g.ok(err)
	p, err := q.Pack()
	g.ok(err)
	return q, p
}

// TestPackLeavesNothing: a pack that cannot be ended must not stay in a
// quarantine that others use, too.
func TestPackLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(p *Pack) error{
		"the file is gone":   func(p *Pack) error { return os.Remove(p.file.Name()) },
		"the file is closed": func(p *Pack) error { return p.file.Close() },
	} {
		q, p := newPackIn(t)
		if _, err := p.Blob([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := spoil(p); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err == nil {
			t.Errorf("%s: the pack ends all the same", name)
		}
		left, err := os.ReadDir(filepath.Join(q.Dir, "pack"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
}

// TestPlaceAfterCrash: the rest of a file that a crash left does not block the
// next copy.
func TestPlaceAfterCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, err := os.MkdirTemp("/dev/shm", "swarm-place-")
	if err != nil {
		t.Skipf("no other file system: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(other); err != nil {
			t.Error(err)
		}
	})
	from, to := filepath.Join(other, "x.pack"), filepath.Join(dir, "pack-1.pack")
	for path, text := range map[string]string{from: "whole", filepath.Join(dir, "tmp_pack-1.pack"): "ha"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if os.Link(from, filepath.Join(dir, "linked")) == nil {
		t.Skip("both are on one file system")
	}
	if err := place(from, to); err != nil {
		t.Fatal(err)
	}
	at, err := os.Stat(to)
	if err != nil || at.Size() != int64(len("whole")) || at.Mode().Perm()&0o222 != 0 {
		t.Errorf("placed is %v, %v", at, err)
	}
}

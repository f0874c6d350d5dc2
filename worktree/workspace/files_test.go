package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPutAside: a file that is put aside replaces no other file. TakeAside
// removes it unless it was changed.
func TestPutAside(t *testing.T) {
	t.Parallel()
	for _, backend := range []Backend{Linked, Overlay} {
		dir := t.TempDir()
		w := Workspace{Dir: dir, Backend: backend}
		if backend == Overlay {
			w.Lower = t.TempDir()
		}
		if err := os.MkdirAll(w.Files(), 0o700); err != nil {
			t.Fatal(err)
		}
		write := func(dir, name, text string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		// The second name is a dangling link, which nothing is written through.
		outside := filepath.Join(t.TempDir(), "outside")
		below := w.Files()
		if backend == Overlay {
			below = w.Lower
		}
		write(below, "b.md", "theirs")
		if err := os.Symlink(outside, filepath.Join(w.Files(), "b-2.md")); err != nil {
			t.Fatal(err)
		}
		name, err := w.PutAside("b.md", []byte("ours"))
		if err != nil || name != "b-3.md" {
			t.Fatalf("%s: PutAside = %q, %v", backend, name, err)
		}
		if text, err := os.ReadFile(filepath.Join(w.Files(), name)); err != nil || string(text) != "ours" {
			t.Errorf("%s: it holds %q, %v", backend, text, err)
		}
		if _, err := os.Lstat(outside); err == nil {
			t.Errorf("%s: it was written through a link", backend)
		}
		second, err := w.PutAside("b.md", []byte("ours"))
		if err != nil || second != "b-4.md" {
			t.Fatalf("%s: PutAside again = %q, %v", backend, second, err)
		}
		write(w.Files(), second, "mine")
		if err := w.TakeAside("b.md", []byte("ours")); err != nil {
			t.Fatal(err)
		}
		for name, there := range map[string]bool{"b-2.md": true, "b-3.md": false, "b-4.md": true} {
			if _, err := os.Lstat(filepath.Join(w.Files(), name)); (err == nil) != there {
				t.Errorf("%s: %s is there: %v", backend, name, err)
			}
		}
		if _, there := w.Find("b.md"); !there {
			t.Errorf("%s: the workspace's own file is gone", backend)
		}
	}
	full := Workspace{Dir: t.TempDir(), Backend: Linked}
	for n := 1; n <= 100; n++ {
		if err := os.WriteFile(filepath.Join(full.Dir, numbered("b.md", n)), []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name, err := full.PutAside("b.md", []byte("ours"))
	if err != nil || name != "b-101.md" {
		t.Fatalf("PutAside where names are taken = %q, %v", name, err)
	}
	// A file with another name is not ours, whatever its content.
	for _, name := range []string{"b-1.md", "b-02.md", "b-x.md", "b-2.txt", "bb-2.md"} {
		if err := os.WriteFile(filepath.Join(full.Dir, name), []byte("ours"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := full.TakeAside("b.md", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(full.Dir)
	if _, there := full.Find(name); err != nil || there || len(left) != 105 {
		t.Errorf("%s is there: %t; %d files are left, %v", name, there, len(left), err)
	}
	gone := Workspace{Dir: filepath.Join(t.TempDir(), "gone")}
	if _, err := gone.PutAside("b.md", nil); err == nil {
		t.Error("something is put into a workspace that is gone")
	}
	if err := gone.TakeAside("b.md", nil); err != nil {
		t.Error(err)
	}
}

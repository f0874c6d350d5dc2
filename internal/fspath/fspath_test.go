package fspath

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBelow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		folder, path, want string
		ok                 bool
	}{
		{"/a", "/a", "", true}, {"/a", "/a/", "", true}, {"/a", "/a/b/../c", "c", true}, {"/", "/a", "a", true},
		{"/a", "/ab", "/ab", false}, {"/a", "/a/../b", "/b", false}, {"/a", "a", "", false}, {"", "/a", "", false},
	} {
		if got, ok := Below(tt.folder, tt.path); ok != tt.ok || ok && got != tt.want {
			t.Errorf("Below(%q, %q) = %q, %v, want %q, %v", tt.folder, tt.path, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ dir, path, want string }{
		{"/a", "b/../c", "/a/c"}, {"/a", "../b", "/b"}, {"/a", "", "/a"}, {"/a", "/b/../c/", "/b/../c/"},
	} {
		if got := From(tt.dir, tt.path); got != tt.want {
			t.Errorf("From(%q, %q) = %q, want %q", tt.dir, tt.path, got, tt.want)
		}
	}
}

func TestExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	if !Exists(link) || Exists(filepath.Join(dir, "nowhere")) {
		t.Error("a dangling link exists, and its target does not")
	}
	if Real(link) != link || Real("") != "" {
		t.Errorf("Real(%q) = %q, want the path itself", link, Real(link))
	}
	_, err := os.Lstat(filepath.Join(dir, "nowhere"))
	if !Missing(err) || !Missing(syscall.ENOTDIR) || Missing(nil) || Missing(errors.New("other")) {
		t.Error("Missing does not tell a missing file from other errors")
	}
}

func TestReadRegular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o600), unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if text, ok := ReadRegular(root, "file", 3); string(text) != "123" || !ok {
		t.Errorf("ReadRegular = %q, %v, want the first 3 bytes", text, ok)
	}
	for _, name := range []string{"pipe", ".", "missing", "../file"} {
		if text, ok := ReadRegular(root, name, 3); ok {
			t.Errorf("ReadRegular(%q) = %q, want nothing", name, text)
		}
	}
}

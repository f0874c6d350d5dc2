package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"agentswarm/internal/statefile"
	"agentswarm/swarm/store"
)

// TestUnlinkedRefs: git would wait for the other end of a pipe among the refs.
func TestUnlinkedRefs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		odd  func(path string) error
		want string // the reason; empty: none
	}{
		{"config", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "it is a pipe"},
		{"refs/swarm/abc/base", func(path string) error { return syscall.Mkfifo(path, 0o600) }, "it is a pipe"},
		{"objects/info/alternates", func(path string) error { return os.Symlink("/etc/hostname", path) }, "it is a symbolic link"},
		{"id", func(path string) error { return os.WriteFile(path, nil, 0o600) }, ""},
	} {
		s := store.Open(t.TempDir(), "repo", t.TempDir())
		path := filepath.Join(s.Refs(), tt.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := tt.odd(path); err != nil {
			t.Fatal(err)
		}
		err := s.Unlinked()
		foreign, ok := errors.AsType[*statefile.ForeignError](err)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: Unlinked = %v, want no error", tt.name, err)
		case tt.want != "" && (!ok || foreign.Path != path || foreign.Reason != tt.want):
			t.Errorf("%s: Unlinked = %v, want %s: %s", tt.name, err, path, tt.want)
		}
	}
}

package runcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentswarm/internal/fspath"
	"agentswarm/swarm/cli/session"
	"agentswarm/swarm/shim"
)

func shimTime() time.Time { return time.Unix(1e9, 0) }

func TestShims(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(file string) error
	}{
		{"made", func(string) error { return nil }},
		{"used again", func(file string) error { return os.Chtimes(file, shimTime(), shimTime()) }},
		{"of other text", func(file string) error { return os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600) }},
		{"that cannot be run", func(file string) error { return os.Chmod(file, 0o644) }},
		{"a link", func(file string) error {
			if err := os.Rename(file, file+"2"); err != nil {
				return err
			}
			return os.Symlink(file+"2", file)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			self := filepath.Join(t.TempDir(), "odd 'name\n", "swarm")
			dir, err := session.InstallShims(self)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "git")
			if err := tt.change(file); err != nil {
				t.Fatal(err)
			}
			if again, err := session.InstallShims(self); err != nil || again != dir || dir != filepath.Join(filepath.Dir(self), "shims") {
				t.Fatalf("shims(%q) = %q, then %q, %v", self, dir, again, err)
			}
			info, err := os.Lstat(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(text, shim.Script) || info.Mode() != 0o755 {
				t.Errorf("%s: %v, %v, the script %v", file, info.Mode(), err, bytes.Equal(text, shim.Script))
			}
			if kept := info.ModTime().Equal(shimTime()); kept != (tt.name == "used again") {
				t.Errorf("the file is the one of before: %v", kept)
			}
		})
	}
}

func TestNoShims(t *testing.T) {
	t.Parallel()
	self := filepath.Join(t.TempDir(), "a:b", "swarm")
	if dir, err := session.InstallShims(self); dir != "" || err != nil || fspath.Exists(filepath.Dir(self)) {
		t.Errorf("shims(%q) = %q, %v, want none: it cannot be in a PATH", self, dir, err)
	}
}

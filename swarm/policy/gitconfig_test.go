package policy

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSameText: a copy of a file or folder is known as one, and whatever an
// agent put in its place is not.
func TestSameText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"user/config": "[user]\n", "user/ignore": "*.o\n", "user/credentials": "secret\n",
		"copy/config": "[user]\n", "copy/ignore": "*.o\n",
		"changed/config": "[core]\n", "changed/ignore": "*.o\n",
		"more/config": "[user]\n", "more/ignore": "*.o\n", "more/attributes": "* text\n",
		"less/config": "[user]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path("user/config"), path("link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"copy", "user", true},
		{"copy/config", "user/config", true},
		{"link", "user/config", true},
		{"changed", "user", false},
		{"changed/config", "user/config", false},
		{"more", "user", false},
		{"less", "user", false},
		{"pipe", "user/config", false},
		{"copy", "user/config", false},
		{"copy", "nothing", false},
		{"nothing", "user", false},
		{"nothing", "nothing either", true},
	} {
		if got := sameText(path(tc.a), path(tc.b)); got != tc.want {
			t.Errorf("sameText(%s, %s) = %t, want %t", tc.a, tc.b, got, tc.want)
		}
	}
}

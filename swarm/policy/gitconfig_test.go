package policy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestUnchanged: a copy of a file or folder is known as such, also without its
// credentials, and whatever an agent put in its place is not.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"user/config": "[user]\n", "user/ignore": "*.o\n", "user/credentials": "secret\n",
		"copy/config": "[user]\n", "copy/ignore": "*.o\n",
		"changed/config": "[core]\n", "changed/ignore": "*.o\n",
		"more/config": "[user]\n", "more/ignore": "*.o\n", "more/attributes": "* text\n",
		"less/config": "[user]\n",
		".gitconfig":  "# mine\n[core]\n\teditor = vi\n[github]\n\ttoken = x\n", "plain": "[core]\n\teditor = \"vi\"\n", "other": "[core]\n\teditor = \"ex\"\n",
		".config/git/config": "[github]\n\ttoken = x\n", ".config/git/ignore": "*.o\n", "layer/config": "", "layered/config": "", "layered/ignore": "*.o\n",
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
	j := &Judge{Request: Request{Getenv: func(name string) string {
		if name == "HOME" {
			return dir
		}
		return ""
	}}}
	for _, tc := range []struct {
		a, b   string
		want   bool
		layers bool // a layer has only what is not the user's
	}{
		{a: "plain", b: ".gitconfig", want: true},
		{a: "plain", b: ".gitconfig", want: true, layers: true},
		{a: "other", b: ".gitconfig"},
		{a: ".gitconfig", b: ".gitconfig", layers: true},
		{a: "layer", b: ".config/git", want: true, layers: true},
		{a: "layer", b: ".config/git"},
		{a: "layered", b: ".config/git", layers: true},
		{a: "layered", b: ".config/git", want: true},
		{a: "copy", b: "user", want: true},
		{a: "copy/config", b: "user/config", want: true},
		{a: "link", b: "user/config", want: true},
		{a: "changed", b: "user"},
		{a: "changed/config", b: "user/config"},
		{a: "more", b: "user"},
		{a: "less", b: "user"},
		{a: "pipe", b: "user/config"},
		{a: "copy", b: "user/config"},
		{a: "copy", b: "nothing"},
		{a: "nothing", b: "user"},
		{a: "nothing", b: "nothing either", want: true},
	} {
		if got := j.unchanged(path(tc.a), path(tc.b), !tc.layers); got != tc.want {
			t.Errorf("unchanged(%s, %s), with layers: %t, = %t, want %t", tc.a, tc.b, tc.layers, got, tc.want)
		}
	}
}

// TestUserGit: files that the user's configuration includes count as well.
func TestUserGit(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[include]\n\tpath = dotfiles/git\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &Judge{Request: Request{Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}}
	if got, want := j.userGit(), filepath.Join(home, "dotfiles/git"); !slices.Contains(got, want) {
		t.Errorf("userGit() = %q, want %s among them", got, want)
	}
}
